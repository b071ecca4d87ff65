import { expect } from 'chai'
import { createDeviceMarks } from '../../../../plugins/auth/limits/device-marks.ts'
import { changePassword } from '../../../../plugins/auth/flows/change-password.ts'
import { createFeatureKit, type KitSettings } from '../../../../plugins/auth/flows/feature-kit.ts'
import { logIn } from '../../../../plugins/auth/flows/log-in.ts'
import type { AuthParts } from '../../../../plugins/auth/flows/parts.ts'
import { resetPassword } from '../../../../plugins/auth/flows/reset-password.ts'
import { signUp } from '../../../../plugins/auth/flows/sign-up.ts'
import { createHashPool } from '../../../../plugins/auth/passwords/hash-pool.ts'
import { createPasswords, type Passwords } from '../../../../plugins/auth/passwords/passwords.ts'
import { createRateLimits } from '../../../../plugins/auth/limits/rate-limits.ts'
import { createResetTokens } from '../../../../plugins/auth/tokens/single-use-tokens.ts'
import { ServiceUnavailable } from 'mortar'
import { createMemoryLimiter } from 'mortar/kit'
import { TestClock } from '../support/clock.ts'

const EMAIL = 'ada@example.com'
const PASSWORD = 'correct horse battery'
const USER = {
  id: 'ada',
  name: 'Ada',
  email: EMAIL,
  passwordHash: 'hash',
  passwordVersion: 0,
  isDisabled: false,
  raw: {},
}
const TOKEN = { tokenHash: 'hash', userId: 'ada', passwordVersion: 0 }
const { token } = createResetTokens().issue()
const caller = { id: 'request', ip: '192.0.2.1', set: () => undefined }

const FLOWS: Record<string, (parts: AuthParts) => Promise<unknown>> = {
  signup: (parts) => signUp(parts, { name: 'Ada', email: EMAIL, password: PASSWORD }, caller, null),
  login: (parts) => logIn(parts, { email: EMAIL, password: PASSWORD }, caller, null),
  'change-password': (parts) =>
    changePassword(
      parts,
      { current: PASSWORD, next: 'another horse' },
      { userId: 'ada', sessionId: 'one' },
      caller,
    ),
  'reset-password': (parts) => resetPassword(parts, { token, password: PASSWORD }, caller),
}

/** The parts with limits of one try each, a store that notes what it is asked, and these passwords. */
function partsWith(passwords: Passwords) {
  const asked: string[] = []
  const events: string[] = []
  const one = { limit: 1, window: '1h' } as const
  const limits = createRateLimits({
    key: Buffer.alloc(32),
    limiter: createMemoryLimiter({ clock: new TestClock() }),
    limits: {
      signup: { ip: one, address: one },
      login: { ip: one, pair: one, address: one },
      reset: { ip: one },
      changePassword: { user: one },
    },
  })
  const store = {
    findUserByEmail: async () => (asked.push('user') ? USER : null),
    findUserById: async () => (asked.push('user') ? USER : null),
    findResetToken: async () => (asked.push('token') ? TOKEN : null),
    takeResetToken: async () => true,
    insertResetToken: async () => void asked.push('given back'),
  }
  const parts = {
    passwords,
    limits,
    store,
    clock: new TestClock(),
    resetTokens: createResetTokens(),
    features: [],
    devices: createDeviceMarks([Buffer.alloc(32)]),
    judgePassword: async () => undefined,
    events: { emit: (type: string, { reason }: { reason: string }) => void events.push(`${type} ${reason}`) },
  } as unknown as AuthParts
  return { parts, asked, events }
}

const EVENTS: Record<string, string> = {
  signup: 'auth.signup.failed busy',
  login: 'auth.login.failed busy',
  'change-password': 'auth.password.change.failed busy',
  'reset-password': 'auth.password.reset.failed busy',
}

const failure = (flow: string, parts: AuthParts): Promise<unknown> =>
  FLOWS[flow]!(parts).then(
    () => 'success',
    (error: unknown) => error,
  )

describe('a full hash queue', () => {
  for (const flow of Object.keys(FLOWS)) {
    it(`turns ${flow} away before anything is read, and costs no try`, async () => {
      const pool = createHashPool({ concurrency: 1, queue: 0 })
      let end = (): void => undefined
      const running = pool.run(
        () =>
          new Promise<void>((resolve) => {
            end = resolve
          }),
      )
      const { parts, asked, events } = partsWith(createPasswords({ pool }))
      for (let n = 0; n < 3; n++) expect(await failure(flow, parts)).to.be.instanceOf(ServiceUnavailable)
      expect(asked).to.deep.equal([])
      expect(events).to.deep.equal(Array.from({ length: 3 }, () => EVENTS[flow]))
      end()
      await running
    })

    it(`gives the try of ${flow} back when it fills up while the flow runs`, async () => {
      const busy = async (): Promise<never> => {
        throw new ServiceUnavailable()
      }
      const fillsUp: Passwords = {
        refuseWhenFull: () => undefined,
        hash: busy,
        verify: flow === 'login' ? busy : async () => ({ valid: true, rehash: false }),
        isUsable: () => true,
        load: () => ({ running: 0, waiting: 0 }),
      }
      const { parts, events } = partsWith(fillsUp)
      for (let n = 0; n < 3; n++) expect(await failure(flow, parts)).to.be.instanceOf(ServiceUnavailable)
      expect(events).to.deep.equal(Array.from({ length: 3 }, () => EVENTS[flow]))
    })
  }

  it('is reached by the signup of a taken address too, which hashes before it tries the address', async () => {
    const steps: string[] = []
    const { parts } = partsWith({
      refuseWhenFull: () => undefined,
      hash: async () => `hash ${steps.push('hash')}`,
      verify: () => Promise.reject(new Error('not asked')),
      isUsable: () => true,
      load: () => ({ running: 0, waiting: 0 }),
    })
    const insertUser = async () => {
      steps.push('address')
      return null
    }
    const refused = await failure('signup', { ...parts, store: { ...parts.store, insertUser } })
    expect(refused).to.include({ code: 'email_taken' })
    expect(steps).to.deep.equal(['hash', 'address'])
  })

  it('is not asked by a reset whose token another request has taken', async () => {
    let hashes = 0
    const { parts } = partsWith({
      refuseWhenFull: () => undefined,
      hash: async () => `hash ${++hashes}`,
      verify: () => Promise.reject(new Error('not asked')),
      isUsable: () => true,
      load: () => ({ running: 0, waiting: 0 }),
    })
    const store = { ...parts.store, takeResetToken: async () => false }
    expect(await failure('reset-password', { ...parts, store })).to.include({ code: 'invalid_reset_token' })
    expect(hashes).to.equal(0)
  })

  it('refuses a change of the password before its code is used up', async () => {
    const { parts, asked } = partsWith({
      refuseWhenFull: () => undefined,
      hash: () => Promise.reject(new ServiceUnavailable()),
      verify: async () => ({ valid: true, rehash: false }),
      isUsable: () => true,
      load: () => ({ running: 0, waiting: 0 }),
    })
    const proveAgain = async () => void asked.push('code')
    const features = [{ proveAgain }] as unknown as AuthParts['features']
    expect(await failure('change-password', { ...parts, features })).to.be.instanceOf(ServiceUnavailable)
    expect(asked).to.deep.equal(['user'])
  })

  it('refuses no attempt of a feature, which hashes no password', async () => {
    const { parts } = partsWith({
      refuseWhenFull: () => {
        throw new ServiceUnavailable()
      },
      hash: () => Promise.reject(new Error('not asked')),
      verify: () => Promise.reject(new Error('not asked')),
      isUsable: () => true,
      load: () => ({ running: 0, waiting: 0 }),
    })
    const kit = createFeatureKit(parts, { records: () => ({}) } as unknown as KitSettings)
    const attempt = { flow: 'factor', rule: 'code', caller, known: {}, counted: {} } as const
    for (const run of [kit.attempt, kit.begin, kit.count])
      expect(await run(attempt, async () => 'done')).to.equal('done')
  })

  it('gives a reset token back that it has taken', async () => {
    const { parts, asked } = partsWith({
      refuseWhenFull: () => undefined,
      hash: () => Promise.reject(new ServiceUnavailable()),
      verify: () => Promise.reject(new Error('not asked')),
      isUsable: () => true,
      load: () => ({ running: 0, waiting: 0 }),
    })
    await failure('reset-password', parts)
    expect(asked).to.deep.equal(['token', 'user', 'given back'])
  })
})
