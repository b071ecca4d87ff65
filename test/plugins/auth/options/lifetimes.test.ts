import { expect } from 'chai'
import {
  linkBase,
  resolveLifetimes,
  type PasswordAuthOptions,
} from '../../../../plugins/auth/options/options.ts'
import { StartupError } from 'mortar'

const resolved = (options: Partial<PasswordAuthOptions> = {}) =>
  resolveLifetimes({ secret: 'not used', ...options })
const DAY = 86_400

describe('The lifetimes', () => {
  it('are the documented ones by default, in seconds', () => {
    expect(resolved()).to.deep.equal({
      access: 900,
      session: 30 * DAY,
      resetToken: 1800,
      grace: 10,
      idle: undefined,
      staleAfter: 3,
    })
  })

  for (const [option, least, most] of [
    ['accessTokenLifetime', 1, DAY],
    ['refreshTokenLifetime', 1, 400 * DAY],
    ['resetTokenLifetime', 1, DAY],
    ['refreshGrace', 0, 60],
    ['idleTimeout', 901, 400 * DAY],
    ['staleAfter', 1, 60],
  ] as const)
    it(`take a ${option} from ${least} to ${most} seconds`, () => {
      for (const value of [least, most])
        expect(Object.values(resolved({ [option]: value }))).to.include(value)
      for (const value of [least - 1, most + 1])
        expect(() => resolved({ [option]: value }))
          .to.throw(StartupError)
          .with.property('code', 'MORTAR_AUTH_OPTION')
    })
})

describe('The base of reset links', () => {
  it('has no slash at its end', () => {
    expect(linkBase('https://app.example.com//', 'production')).to.equal('https://app.example.com')
  })
})
