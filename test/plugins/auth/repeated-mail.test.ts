import { mock } from 'node:test'
import { expect } from 'chai'
import { defineBrick, value } from 'mortar'
import { createRepeats } from 'mortar/kit'
import { account } from '@mortar/auth/account'
import { emailVerification } from '@mortar/auth/email-verification'
import { notices } from '@mortar/auth/notices'
import { recent } from '@mortar/auth/recent'
import type { AccountMail, MailKind } from '../../../plugins/auth/features/mails.ts'
import { deferred } from '../../support/deferred.ts'
import { createForgotPassword, NOBODY, sendReset } from '../../../plugins/auth/flows/forgot-password.ts'
import { createOutbox } from '../../../plugins/auth/flows/outbox.ts'
import type { AuthParts } from '../../../plugins/auth/flows/parts.ts'
import { createDeviceMarks } from '../../../plugins/auth/limits/device-marks.ts'
import { createResetTokens } from '../../../plugins/auth/tokens/single-use-tokens.ts'
import { DAY, provider } from './features/support/account-scene.ts'
import type { Client } from './support/client.ts'
import { ADA, inWorld, settle, signedUp, type World } from './support/world.ts'

const OWNER = { id: 'ada', email: ADA.email }
const CHANGE = { current: ADA.password, next: 'another horse battery' }
const caller = { id: 'request', ip: '192.0.2.1', set: () => undefined }
const LIFETIME = 1800
const away = new Error('connect ECONNREFUSED')
const rejected = Object.assign(new Error('550 no such user'), { permanent: true })

/** The flow over a mail server that fails with these errors first, and then takes every mail. */
function scene(failures: Error[], store: Partial<AuthParts['store']> = {}) {
  const seen = {
    tried: [] as string[],
    errors: [] as string[],
    stored: [] as string[],
    logged: [] as string[],
  }
  const parts = {
    clock: { now: () => Date.now() },
    features: [],
    lifetimes: { resetToken: LIFETIME },
    limits: { attempt: async () => ({ headers: {} }) },
    devices: createDeviceMarks([Buffer.alloc(32)]),
    resetTokens: createResetTokens(),
    mostResetTokens: 32,
    outages: { log: ({ error }: { error: Error }) => seen.logged.push(error.message) },
    mails: createOutbox({ delay: () => 0 } as never),
    events: { emit: (_type: string, { error }: { error?: string }) => error && seen.errors.push(error) },
    store: {
      findUserByEmail: async (email: string) => (email === ADA.email ? OWNER : null),
      insertResetToken: async ({ tokenHash }: { tokenHash: string }) => void seen.stored.push(tokenHash),
      findResetToken: async (hash: string, now: number) =>
        seen.stored.includes(hash) && now < LIFETIME * 1000 ? {} : null,
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
  return { seen, parts, forgot: createForgotPassword(parts), mails: parts.mails }
}

async function pass(milliseconds: number): Promise<void> {
  mock.timers.tick(milliseconds)
  for (let turn = 0; turn < 30; turn++) await Promise.resolve()
}

describe('A reset mail that could not be sent', () => {
  beforeEach(() => mock.timers.enable({ apis: ['setTimeout', 'Date'], now: 0 }))
  afterEach(() => mock.timers.reset())

  it('is sent again after a second, then later and later, with the same token, until it goes out', async () => {
    const { seen, forgot, mails } = scene([away, away, away])
    await forgot({ email: ADA.email }, caller)
    await mails.settled()
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

  it('is sent when the reply of the statement that stored its link was lost', async () => {
    let stored: string | undefined
    const { seen, forgot, mails } = scene([], {
      insertResetToken: async ({ tokenHash }) => {
        if (stored === tokenHash) throw new Error('UNIQUE constraint failed: auth_reset_tokens.token_hash')
        stored = tokenHash
        throw new Error('connection lost')
      },
      findResetToken: async (hash) => (hash === stored ? ({} as never) : null),
    })
    await forgot({ email: ADA.email }, caller)
    await mails.settled()
    await pass(1000)
    expect([seen.tried.length, seen.errors]).to.deep.equal([1, []])
  })

  it('is given up when its link is no longer valid', async () => {
    const { seen, forgot, mails } = scene(Array.from({ length: 100 }, () => away))
    await forgot({ email: ADA.email }, caller)
    await mails.settled()
    for (let minute = 0; minute < 120; minute++) await pass(60_000)
    const tried = seen.tried.length
    expect(tried).to.be.within(6, 15)
    for (let minute = 0; minute < 120; minute++) await pass(60_000)
    expect(seen.tried).to.have.length(tried)
  })

  it('is given up by then, too, if its token could never be stored', async () => {
    let attempts = 0
    const insertResetToken = async () => {
      attempts += 1
      throw away
    }
    const { forgot, mails } = scene([], { insertResetToken })
    await forgot({ email: ADA.email }, caller)
    await mails.settled()
    for (let minute = 0; minute < 120; minute++) await pass(60_000)
    const tried = attempts
    expect(tried).to.be.within(6, 15)
    for (let minute = 0; minute < 120; minute++) await pass(60_000)
    expect(attempts).to.equal(tried)
  })

  it('is given up when its token was used or replaced', async () => {
    const { seen, forgot, mails } = scene([away], { findResetToken: async () => null })
    await forgot({ email: ADA.email }, caller)
    await mails.settled()
    await pass(60_000)
    expect(seen.tried).to.have.length(1)
  })

  it('is given up when the mail server has rejected it for good', async () => {
    const { seen, forgot, mails } = scene([rejected])
    await forgot({ email: ADA.email }, caller)
    await mails.settled()
    await pass(60_000)
    expect(seen.tried).to.have.length(1)
  })

  it('is sent once more when the application closes, and not again', async () => {
    const { seen, forgot, mails } = scene([away, away, away, away])
    await forgot({ email: ADA.email }, caller)
    await mails.settled()
    await mails.finish()
    expect(seen.tried).to.have.length(2)
    await forgot({ email: ADA.email }, caller)
    await mails.settled()
    await pass(3_600_000)
    expect(seen.tried).to.have.length(3)
  })

  it('is lost if it is on its way again when the application closes, and fails', async () => {
    const repeats = createRepeats()
    const again = deferred<boolean>()
    let tries = 0
    await repeats.run(async () => (++tries === 1 ? false : again.promise))
    await pass(1000)
    const lost = repeats.finish()
    again.resolve(false)
    expect([await lost, tries]).to.deep.equal([1, 2])
  })

  it('has its token stored by a later attempt, if the database was away too', async () => {
    const stored: boolean[] = []
    const { seen, forgot, mails } = scene([], {
      insertResetToken: async () => {
        stored.push(stored.length > 0)
        if (stored.length === 1) throw away
      },
    })
    await forgot({ email: ADA.email }, caller)
    await mails.settled()
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

/** The two look-ups before a reset mail, by address and by id, and how each begins. */
const LOOK_UPS = {
  'an address': ({ forgot }: ReturnType<typeof scene>) => forgot({ email: ADA.email }, caller),
  'a user': async ({ parts }: ReturnType<typeof scene>) =>
    parts.mails.later(() => sendReset(parts, OWNER.id, caller)),
}

describe('A look-up for a reset mail that has failed', () => {
  beforeEach(() => mock.timers.enable({ apis: ['setTimeout', 'Date'], now: 0 }))
  afterEach(() => mock.timers.reset())

  /** A scene whose look-ups fail so many times. */
  function failingScene(failures: number) {
    const looked: unknown[] = []
    const find = async (key: string) => {
      if (key === NOBODY) return null
      looked.push(key)
      if (looked.length <= failures) throw away
      return OWNER as never
    }
    return { ...scene([], { findUserByEmail: find, findUserById: find }), looked }
  }

  for (const [name, begin] of Object.entries(LOOK_UPS)) {
    it(`is repeated for ${name} until it succeeds, with one mail`, async () => {
      const given = failingScene(2)
      await begin(given)
      await given.mails.settled()
      await pass(1000)
      expect([given.seen.tried.length, given.seen.logged]).to.deep.equal([0, [away.message, away.message]])
      await pass(4000)
      expect(given.seen.tried).to.have.length(1)
      await pass(3_600_000)
      expect([given.seen.tried.length, given.looked.length]).to.deep.equal([1, 3])
    })

    it(`is given up for ${name} when no link would be valid any more`, async () => {
      const given = failingScene(1000)
      await begin(given)
      await given.mails.settled()
      for (let minute = 0; minute < 120; minute++) await pass(60_000)
      const looked = given.looked.length
      expect(looked).to.be.within(6, 15)
      for (let minute = 0; minute < 120; minute++) await pass(60_000)
      expect(given.looked).to.have.length(looked)
    })
  }

  it('counts as a lost mail when the process stops', async () => {
    const { forgot, mails, looked } = failingScene(2)
    await forgot({ email: ADA.email }, caller)
    expect(await mails.finish()).to.equal(1)
    expect(looked).to.have.length(2)
  })
})

/** A mail about an account, the seconds for which it is repeated, and the request that sends it. */
const MAILS: [kind: MailKind, seconds: number, send: (world: World, client: Client) => Promise<unknown>][] = [
  ['invitation', 7 * DAY, (world) => provider(world).invite({ name: 'Grace', email: 'grace@example.com' })],
  ['verify-email', 3600, (_world, client) => client.post('/auth/signup', ADA)],
  ['account-deletion', 14 * DAY, (_world, client) => client.delete('/auth/account')],
  ['password-changed', DAY, (_world, client) => client.post('/auth/change-password', CHANGE)],
]

describe('A mail about an account that could not be sent', () => {
  for (const [kind, lifetime, send] of MAILS)
    for (const [what, seconds, count] of [
      ['is sent again', lifetime - 1, 2],
      ['is given up', lifetime, 1],
    ] as const)
      it(`${what} ${seconds} s later, without its token in the event: ${kind}`, async () => {
        const links: (string | undefined)[] = []
        let later = (): void => undefined
        const sendMail = (mail: AccountMail) => {
          if (mail.kind !== kind) return
          if (links.push(mail.link) === 1) later()
          throw new Error(`no route for ${mail.link}`)
        }
        const features = [recent(), notices(), emailVerification({ lifetime: '1h' }), account()]
        await inWorld({ withFeatures: true, auth: { features, sendMail } }, async (world) => {
          const client = kind === 'verify-email' ? world.client() : await signedUp(world)
          await settle(world)
          later = () => void world.clock.advance(seconds)
          await send(world, client)
          await settle(world)
          await world.app.close()
          expect(links).to.have.length(count)
          const failures = world.events.filter(({ type }) => type === 'auth.mail.failed')
          expect(failures.map(({ event }) => event['kind'])).to.deep.equal(links.map(() => kind))
          expect(JSON.stringify(failures)).to.not.match(/token=[\w-]{20}/)
        })
      })

  for (const isAway of [true, false])
    it(`is ${isAway ? 'counted in a line of the log' : 'no loss if it is sent'} when the process stops`, async () => {
      const lines: unknown[][] = []
      let fails = true
      const fail = () => {
        if (fails) throw away
      }
      const auth = { features: [notices()], sendMail: fail, sendResetEmail: fail }
      await inWorld({ withFeatures: true, auth }, async (world) => {
        const { logger } = world.app.services as unknown as {
          logger: { error: (...args: unknown[]) => void }
        }
        const client = await signedUp(world)
        await client.post('/auth/change-password', CHANGE)
        await client.post('/auth/change-password', { current: CHANGE.next, next: CHANGE.current })
        await client.post('/auth/forgot-password', { email: ADA.email })
        await settle(world)
        logger.error = (...args) => void lines.push(args)
        fails = isAway
        await world.app.close()
      })
      const losses = lines.filter(([, message]) => String(message).includes('lost'))
      const loss = [
        { mails: 3 },
        'Mails about accounts could not be sent before the process stopped, and are lost',
      ]
      expect(losses).to.deep.equal(isAway ? [loss] : [])
    })

  it('is handed to the mailer once if its server has refused it for good, and never to a queue', () => {
    const handed: object[] = []
    const send = async (_message: object, options: object) => {
      handed.push(options)
      throw rejected
    }
    const mailer = defineBrick({ name: 'mail', services: { mailer: value({ send }) } })
    const auth = { features: [notices()] }
    return inWorld(
      { withFeatures: true, withoutSendResetEmail: true, auth, bricks: [mailer] },
      async (world) => {
        const client = await signedUp(world)
        await client.post('/auth/forgot-password', { email: ADA.email })
        await client.post('/auth/change-password', CHANGE)
        await settle(world)
        await world.app.close()
        expect(handed).to.deep.equal([{ now: true }, { now: true }])
      },
    )
  })
})
