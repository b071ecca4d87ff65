import { expect } from 'chai'
import { assess } from '../../../../plugins/auth/asvs/assess.ts'
import { asvsFindings } from '../../../../plugins/auth/asvs/findings.ts'
import { authFindings } from '../../../../plugins/auth/doctor.ts'
import { hostedAuth } from '@mortar/auth-hosted'
import { recent } from '@mortar/auth/recent'
import { sessions } from '@mortar/auth/sessions'
import { totp } from '@mortar/auth/totp'
import type { AuthProvider } from '../../../../plugins/auth/provider.ts'
import type { BrickServices } from 'mortar'
import { resolveLifetimes, type PasswordAuthOptions } from '../../../../plugins/auth/options/options.ts'

type Options = Omit<PasswordAuthOptions, 'secret'>

const SERVICES = { environment: 'development' } as BrickServices
const APP_URL = 'https://app.example.com'

const configurationOf = (options: Options, appUrl: string | undefined = APP_URL) => ({
  options,
  lifetimes: resolveLifetimes({ secret: '', ...options }),
  appUrl,
})

/** The ids that are missing: of level 1, then of level 2. */
function missing(options: Options, appUrl?: string): readonly [string[], string[]] {
  const { broken, forLevel2 } = assess(configurationOf(options, appUrl))
  return [broken.flatMap(({ ids }) => ids), forLevel2.options.flatMap(({ ids }) => ids)]
}

const LEVEL_2: Options = {
  passwordWords: ['Mortar'],
  breachedPasswords: true,
  resetTokenLifetime: '10m',
  idleTimeout: '7d',
  features: [recent(), sessions(), totp()],
}

/** Options beside those of level 2, and the requirements of level 1 and 2 that they break. */
const BROKEN: readonly (readonly [string, Options, readonly string[], readonly string[]])[] = [
  ['features: []', { features: [] }, [], ['6.3.3', '6.4.4', '7.5.1', '7.5.2']],
  ['no sessions()', { features: [recent(), totp()] }, [], ['7.5.2']],
  ['no totp()', { features: [recent(), sessions()] }, [], ['6.3.3', '6.4.4']],
  ['no limit of codes', { limits: { code: false } }, [], ['6.6.3']],
  ['limits: false', { limits: false }, ['6.3.1'], ['6.6.3']],
  ['no limit of login', { limits: { login: false } }, ['6.3.1'], []],
  ['no limit of login by network', { limits: { login: { ip: false } } }, ['6.3.1'], []],
  ['no limit of login by account', { limits: { login: { pair: false, address: false } } }, ['6.3.1'], []],
  ['no limit of login by pair', { limits: { login: { pair: false } } }, [], []],
  ['no limit of login by address', { limits: { login: { address: false } } }, [], []],
  ['no limit of change-password', { limits: { changePassword: false } }, ['6.3.1'], []],
  ['no limit of reset', { limits: { reset: false } }, [], ['6.6.3']],
  ['no limit of login by device', { limits: { login: { device: false } } }, ['6.1.1'], []],
  ['deviceCookie: false', { deviceCookie: false }, ['6.1.1'], []],
  [
    'deviceCookie: false, with no limit that strangers can use up',
    { deviceCookie: false, limits: { login: { address: false } } },
    [],
    [],
  ],
  ['refuseWeakPasswords: false', { refuseWeakPasswords: false }, ['6.2.4'], ['6.1.2', '6.2.11']],
  ['secureCookie: false', { secureCookie: false }, ['3.3.1'], []],
  ['no words', { passwordWords: [] }, [], ['6.1.2', '6.2.11']],
  ['an empty word', { passwordWords: [''] }, [], ['6.1.2', '6.2.11']],
  ['breachedPasswords: false', { breachedPasswords: false }, [], ['6.2.12']],
  ['settings of breachedPasswords', { breachedPasswords: { timeout: '1s' } }, [], []],
  ['a reset token of 601 s', { resetTokenLifetime: 601 }, [], ['6.5.5']],
  ['a low cost', { cost: { memory: 19_455 } }, [], ['11.4.2']],
  ['three passes with 12 MiB', { cost: { memory: 12_288, passes: 3 } }, [], []],
  ['logEvents: false', { logEvents: false }, [], ['16.3.1']],
]

describe('The ASVS level of a configuration', () => {
  it('is 1 by default; level 2 needs four options and three features', () => {
    expect(assess(configurationOf({})).level).to.equal(1)
    const ids = ['6.1.2', '6.2.11', '6.2.12', '6.3.3', '6.4.4', '6.5.5', '7.3.1', '7.5.1', '7.5.2']
    expect(missing({})).to.deep.equal([[], ids])
  })

  it('is 2 when they are set', () => {
    expect(missing(LEVEL_2)).to.deep.equal([[], []])
    expect(assess(configurationOf(LEVEL_2)).level).to.equal(2)
  })

  for (const [what, options, level1, level2] of BROKEN)
    it(`with ${what} misses ${[...level1, ...level2].join(', ') || 'nothing'}`, () => {
      expect(missing({ ...LEVEL_2, ...options })).to.deep.equal([level1, level2])
      const { level } = assess(configurationOf({ ...LEVEL_2, ...options }))
      expect(level).to.equal(level1.length > 0 ? 0 : level2.length > 0 ? 1 : 2)
    })

  for (const [options, level2] of [
    [{}, ['9.2.3', '9.2.4']],
    [{ issuer: 'a' }, []],
    [{ audience: 'a' }, []],
  ] as const)
    it(`without appUrl and with ${JSON.stringify(options)} misses ${level2.join(', ') || 'nothing'}`, () => {
      const configuration = { ...configurationOf({ ...LEVEL_2, ...options }), appUrl: undefined }
      const ids = assess(configuration).forLevel2.options.flatMap((requirement) => requirement.ids)
      expect(ids).to.deep.equal(level2)
    })
})

describe('The findings about ASVS', () => {
  const findings = (options: Options, environment: 'production' | 'development') =>
    asvsFindings(configurationOf(options), environment)

  it('are one note by default, with the level and what level 2 needs', () => {
    const [found, ...others] = findings({}, 'production')
    expect(others).to.deep.equal([])
    expect(found).to.include({ level: 'note', code: 'MORTAR_DOCTOR_ASVS' })
    expect(found!.found).to.include('level 1')
    expect(found!.remedy)
      .to.include('breachedPasswords (6.2.12)')
      .and.include("totp(), and auth: 'mfa' on the routes of users (6.3.3, 6.4.4)")
  })

  it('name no option when only the application is missing something', () => {
    const [reached] = findings(LEVEL_2, 'production')
    expect(reached!.found)
      .to.include('reaches level 2')
      .and.include("auth: 'mfa' on the routes of users (6.3.3)")
    expect(reached!.remedy).to.match(/^Level 2 needs from the application: /)
  })

  it('warn in production of options that break level 1, and note them elsewhere', () => {
    for (const [environment, level] of [
      ['production', 'warning'],
      ['development', 'note'],
    ] as const) {
      const [broken, reached] = findings({ limits: false, refuseWeakPasswords: false }, environment)
      expect(broken).to.include({ level, code: 'MORTAR_DOCTOR_ASVS' })
      expect(broken!.found).to.include('6.2.4, 6.3.1')
      expect(broken!.remedy).to.include('refuseWeakPasswords').and.include('limits')
      expect(reached).to.include({ level: 'note' })
      expect(reached!.found).to.include('no level')
    }
  })

  it('name who is responsible with another provider', async () => {
    const describe = async (provider: AuthProvider) =>
      (await authFindings(provider, SERVICES)).map(({ found }) => found)
    const own: AuthProvider = {
      name: 'own',
      identify: () => null,
      securityScheme: { name: 'accessToken', scheme: {} },
    }
    expect(await describe(own)).to.include(
      "The provider 'own' is responsible for V6 and V7 of OWASP ASVS 5.0.",
    )
    const hosted = hostedAuth({ issuer: 'https://sign-in.example.com', audience: 'api' })
    expect((await describe(hosted)).join())
      .to.include("'hosted' is responsible")
      .and.include('hostedAuth() meets V9.')
  })
})
