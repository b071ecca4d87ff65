import { expect } from 'chai'
import { StartupError } from 'mortar'
import {
  mostResetTokens,
  resolveLimits,
  type LimitOptions,
} from '../../../../plugins/auth/limits/limit-rules.ts'

const lines = (options?: LimitOptions | false): string[] =>
  resolveLimits(options).map(({ rule, scope, limit, window }) => `${rule} ${scope} ${limit}/${window}`)

const DEFAULTS = [
  'login ip 30/60',
  'login site 300/60',
  'login pair 10/900',
  'login address 100/900',
  'login device 10/900',
  'login devices 100/900',
  'signup ip 20/60',
  'signup site 200/60',
  'signup address 5/3600',
  'forgot ip 20/60',
  'forgot site 200/60',
  'forgot address 5/900',
  'forgot device 5/900',
  'reset ip 20/60',
  'reset site 200/60',
  'refresh session 60/60',
  'changePassword user 5/900',
  'sessions user 60/60',
  'verify ip 20/60',
  'verify site 200/60',
  'verifyMail ip 20/60',
  'verifyMail site 200/60',
  'verifyMail address 5/3600',
  'changeEmail user 5/3600',
  'changeEmail address 5/3600',
  'factor ip 30/60',
  'factor site 300/60',
  'code user 10/3600',
  'totp user 20/900',
  'social ip 60/60',
  'social site 600/60',
  'account user 10/3600',
  'ticket user 60/60',
  'passkey ip 60/60',
  'passkey site 600/60',
  'ownPasskeys user 20/900',
]

describe('the number of reset tokens that are valid at the same time', () => {
  for (const [what, options, lifetime, most] of [
    ['32 by default', undefined, 1800, 32],
    ['what the limits let out in a longer lifetime', undefined, 3600, 50],
    ['what higher limits let out', { forgot: { address: { limit: 20, window: '15m' } } }, 1800, 75],
    ['32 when nothing is limited', false, 86_400, 32],
  ] as const)
    it(`is ${what}`, () => {
      expect(mostResetTokens(options, lifetime)).to.equal(most)
    })
})

describe('the limits', () => {
  it('are the documented ones when nothing is said', () => {
    expect(lines()).to.deep.equal(DEFAULTS)
    expect(lines({})).to.deep.equal(DEFAULTS)
  })

  it('change one by one', () => {
    const changed = lines({
      login: { ip: { limit: 3, window: 10 } },
      refresh: { session: { limit: 1, window: '1h' } },
    })
    expect(changed).to.include.members(['login ip 3/10', 'login address 100/900', 'refresh session 1/3600'])
    expect(changed).to.have.lengthOf(DEFAULTS.length)
  })

  it('take windows from one second to 24 days, rounded up to whole seconds', () => {
    const windows = ['1s', 1.5, '24d'] as const
    const linesOf = (window: (typeof windows)[number]) => lines({ reset: { ip: { limit: 1, window } } })
    expect(
      windows.flatMap((window) => linesOf(window).filter((line) => line.startsWith('reset ip'))),
    ).to.deep.equal(['reset ip 1/1', 'reset ip 1/2', 'reset ip 1/2073600'])
  })

  it('can be switched off one by one, rule by rule, and all together', () => {
    expect(lines({ login: { ip: false } })).to.deep.equal(
      DEFAULTS.filter((line) => line !== 'login ip 30/60'),
    )
    expect(lines({ login: false })).to.deep.equal(DEFAULTS.filter((line) => !line.startsWith('login ')))
    expect(lines(false)).to.deep.equal([])
  })

  it('stay as they are where a setting is undefined', () => {
    expect(lines({ login: undefined, signup: { ip: undefined } } as unknown as LimitOptions)).to.deep.equal(
      DEFAULTS,
    )
  })

  const WRONG: Record<string, unknown> = {
    'an unknown rule': { logn: false },
    'an unknown scope': { login: { email: false } },
    'a scope of another rule': { reset: { address: { limit: 1, window: 60 } } },
    'a limit of 0': { login: { ip: { limit: 0, window: 60 } } },
    'a negative limit': { login: { ip: { limit: -1, window: 60 } } },
    'a limit that is not whole': { login: { ip: { limit: 1.5, window: 60 } } },
    'no limit': { login: { ip: { window: 60 } } },
    'an infinite limit': { login: { ip: { limit: Infinity, window: 60 } } },
    'a window of 0': { login: { ip: { limit: 1, window: 0 } } },
    'a window below a second': { login: { ip: { limit: 1, window: '500ms' } } },
    'a window of 25 days, beyond which timers overflow': { login: { ip: { limit: 1, window: '25d' } } },
    'a window of 90 days': { login: { ip: { limit: 1, window: 90 * 86_400 } } },
    'a window without a unit that exists': { login: { ip: { limit: 1, window: '1 week' } } },
    'no window': { login: { ip: { limit: 1 } } },
    true: { login: { ip: true } },
    'a number for a limit': { login: { ip: 5 } },
    'a rule that is true': { login: true },
    'a rule that is null': { login: null },
  }
  for (const [name, options] of Object.entries(WRONG))
    it(`refuse ${name}, naming its position`, () => {
      expect(() => lines(options as LimitOptions))
        .to.throw(StartupError, /limits/)
        .with.property('code', 'MORTAR_AUTH_LIMIT')
    })
})
