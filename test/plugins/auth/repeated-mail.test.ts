import { mock } from 'node:test'
import { expect } from 'chai'
import { createRepeats } from 'mortar/kit'
import { createForgotPassword } from '../../../plugins/auth/flows/forgot-password.ts'
import type { AuthParts } from '../../../plugins/auth/flows/parts.ts'
import { createDeviceMarks } from '../../../plugins/auth/limits/device-marks.ts'
import { createResetTokens } from '../../../plugins/auth/tokens/reset-tokens.ts'

const ADA = { id: 'ada', email: 'ada@example.com' }
const caller = { id: 'request', ip: '192.0.2.1', set: () => undefined }
const LIFETIME = 1800
const away = new Error('connect ECONNREFUSED')
const rejected = Object.assign(new Error('550 no such user'), { permanent: true })

/** The flow over a mail server that fails with these errors first, and then takes every mail. */
function scene(failures: Error[], store: Partial<AuthParts['store']> = {}) {
  const seen = { tried: [] as string[], errors: [] as string[], stored: [] as string[] }
  const parts = {
    clock: { now: () => Date.now() },
    lifetimes: { resetToken: LIFETIME },
    limits: { attempt: async () => ({ headers: {} }) },
    devices: createDeviceMarks([Buffer.alloc(32)]),
    resetTokens: createResetTokens(),
    mostResetTokens: 32,
    mailDelay: () => 0,
    events: { emit: (_type: string, { error }: { error?: string }) => error && seen.errors.push(error) },
    store: {
      findUserByEmail: async (email: string) => (email === ADA.email ? ADA : null),
      insertResetToken: async ({ tokenHash }: { tokenHash: string }) => void seen.stored.push(tokenHash),
      findResetToken: async (_hash: string, now: number) => (now < LIFETIME * 1000 ? {} : null),
      ...store,
    },
    resetMail: {
      async send(_to: string, token: string) {
        seen.tried.push(token)
        const failure = failures.shift()
        if (failure) throw new Error(`${failure.message} ${token}`, { cause: failure })
      },
    },
  } as unknown as AuthParts
  if (failures.includes(rejected))
    Object.assign(parts.resetMail, {
      async send(_to: string, token: string) {
        seen.tried.push(token)
        throw rejected
      },
    })
  return { seen, forgot: createForgotPassword(parts) }
}

async function pass(milliseconds: number): Promise<void> {
  mock.timers.tick(milliseconds)
  for (let turn = 0; turn < 30; turn++) await Promise.resolve()
}

describe('A reset mail that could not be sent', () => {
  beforeEach(() => mock.timers.enable({ apis: ['setTimeout', 'Date'], now: 0 }))
  afterEach(() => mock.timers.reset())

  it('is sent again after a second, then later and later, with the same token, until it goes out', async () => {
    const { seen, forgot } = scene([away, away, away])
    await forgot({ email: ADA.email }, caller)
    await forgot.settled()
    expect(seen.tried).to.have.length(1)
    for (const [milliseconds, count] of [
      [999, 1],
      [1, 2],
      [3999, 2],
      [1, 3],
      [16_000, 4],
      [3_600_000, 4],
    ] as const) {
      await pass(milliseconds)
      expect(seen.tried, `after ${milliseconds}`).to.have.length(count)
    }
    expect(new Set(seen.tried).size).to.equal(1)
    expect(seen.stored).to.have.length(1)
    expect(seen.errors).to.deep.equal(Array.from({ length: 3 }, () => 'Error: connect ECONNREFUSED [token]'))
  })

  it('is given up when its link is no longer valid', async () => {
    const { seen, forgot } = scene(Array.from({ length: 100 }, () => away))
    await forgot({ email: ADA.email }, caller)
    await forgot.settled()
    for (let minute = 0; minute < 120; minute++) await pass(60_000)
    const tried = seen.tried.length
    expect(tried).to.be.within(6, 15)
    for (let minute = 0; minute < 120; minute++) await pass(60_000)
    expect(seen.tried).to.have.length(tried)
  })

  it('is given up when its token was used or replaced', async () => {
    const { seen, forgot } = scene([away], { findResetToken: async () => null })
    await forgot({ email: ADA.email }, caller)
    await forgot.settled()
    await pass(60_000)
    expect(seen.tried).to.have.length(1)
  })

  it('is given up when the mail server has rejected it for good', async () => {
    const { seen, forgot } = scene([rejected])
    await forgot({ email: ADA.email }, caller)
    await forgot.settled()
    await pass(60_000)
    expect(seen.tried).to.have.length(1)
  })

  it('is sent once more when the application closes, and not again', async () => {
    const { seen, forgot } = scene([away, away, away, away])
    await forgot({ email: ADA.email }, caller)
    await forgot.settled()
    await forgot.finish()
    expect(seen.tried).to.have.length(2)
    await forgot({ email: ADA.email }, caller)
    await forgot.settled()
    await pass(3_600_000)
    expect(seen.tried).to.have.length(3)
  })

  it('has its token stored by a later attempt, if the database was away too', async () => {
    const stored: boolean[] = []
    const { seen, forgot } = scene([], {
      insertResetToken: async () => {
        stored.push(stored.length > 0)
        if (stored.length === 1) throw away
      },
    })
    await forgot({ email: ADA.email }, caller)
    await forgot.settled()
    await pass(1000)
    expect([stored, seen.tried.length]).to.deep.equal([[false, true], 1])
  })

  it('waits in memory beside 999 others at most', async () => {
    const repeats = createRepeats()
    let calls = 0
    for (let count = 0; count < 1001; count++)
      await repeats.run(async () => {
        calls += 1
        return calls > 1001
      })
    await pass(1000)
    expect(calls).to.equal(2001)
  })
})
