import { expect } from 'chai'
import { setTimeout as wait } from 'node:timers/promises'
import { createDeviceMarks } from '../../../plugins/auth/limits/device-marks.ts'
import { createBackground } from '../../../plugins/auth/flows/background.ts'
import { createForgotPassword } from '../../../plugins/auth/flows/forgot-password.ts'
import { createOutbox } from '../../../plugins/auth/flows/outbox.ts'
import type { AuthParts } from '../../../plugins/auth/flows/parts.ts'
import { createResetTokens } from '../../../plugins/auth/tokens/single-use-tokens.ts'
import { countKept } from '../../support/collect-garbage.ts'

const ADA = 'ada@example.com'
const caller = { id: 'request', ip: '192.0.2.1', set: () => undefined }

/** The flow over parts that note each call; `mailDelay` of the outbox in milliseconds. */
function flowThatNotes(mailDelay = 0) {
  const calls: string[] = []
  const note = (call: string) => void calls.push(call)
  const parts = {
    clock: { now: () => 1000 },
    lifetimes: { resetToken: 1800 },
    limits: { attempt: async () => ({ headers: {}, counted: note('count') }) },
    devices: createDeviceMarks([Buffer.alloc(32)]),
    resetTokens: createResetTokens(),
    mostResetTokens: 32,
    mails: createOutbox({ delay: () => mailDelay } as never),
    events: { emit: () => undefined },
    store: {
      findUserByEmail: async (email: string) => {
        note(email.endsWith('.invalid') ? 'look up nobody' : 'look up')
        return email === ADA ? { id: 'ada', email } : null
      },
      insertResetToken: async ({ createdAt, expiresAt, tokenHash }: Record<string, string>) =>
        note(`store ${tokenHash!.length} ${Number(expiresAt) - Number(createdAt)}`),
    },
    resetMail: {
      send: async (to: string, token: string) => note(`send ${to} ${token.length}`),
      rehearse: async (to: string, token: string) => note(`rehearse ${to} ${token.length}`),
    },
  } as unknown as AuthParts
  return { calls, forgot: createForgotPassword(parts), mails: parts.mails }
}

describe('the work of forgot-password', () => {
  for (const [what, email, expected] of [
    ['an account', ADA, ['store 64 1800000', `send ${ADA} 43`]],
    ['none', 'eve@example.com', ['store 64 0', 'rehearse eve@example.com 43']],
  ] as const)
    it(`is the same before the response, and of the same steps after it, for an address with ${what}`, async () => {
      const { calls, forgot, mails } = flowThatNotes()
      await forgot({ email }, caller)
      expect(calls).to.deep.equal(['count', 'look up nobody'])
      await mails.settled()
      expect(calls.slice(2)).to.deep.equal(['look up', ...expected])
    })

  it('waits for its delay, and begins immediately when the application closes', async () => {
    const { calls, forgot, mails } = flowThatNotes(60_000)
    await forgot({ email: ADA }, caller)
    await wait(1)
    expect(calls).to.have.length(2)
    await mails.settled()
    expect(calls.at(-1)).to.match(/^send/)
  })
})

describe('work in the background', () => {
  it('begins in a later turn of the event loop, and settled() waits for its end', async () => {
    const background = createBackground(() => 0)
    const steps: string[] = []
    background.run(async () => {
      steps.push('begin')
      await wait(1)
      steps.push('end')
    })
    await Promise.resolve()
    expect(steps).to.deep.equal([])
    await background.settled()
    expect(steps).to.deep.equal(['begin', 'end'])
  })

  it('begins by itself after its delay, once', async () => {
    const background = createBackground(() => 1)
    let runs = 0
    await new Promise<void>((resolve) => {
      background.run(async () => {
        runs += 1
        resolve()
      })
    })
    await background.settled()
    expect(runs).to.equal(1)
  })

  for (const delay of [0, 1])
    it(`keeps nothing of work that is done, begun after ${delay} ms`, async () => {
      const background = createBackground(() => delay)
      const held = await finished(background)
      expect(await countKept([held])).to.equal(0)
      await background.settled()
    })
})

/** Runs work that holds an object, and gives the only other reference to it. */
async function finished(background: ReturnType<typeof createBackground>): Promise<WeakRef<object>> {
  let held: object | undefined = { of: 'the work' }
  const reference = new WeakRef(held)
  await new Promise<void>((resolve) => {
    background.run(async () => {
      resolve()
      return held as never
    })
  })
  held = undefined
  return reference
}
