import { expect } from 'chai'
import type { ConnectedPasswordProvider } from '@mortar/auth/basic'
import type { AuthParts } from '../../../plugins/auth/flows/parts.ts'
import { createRefresh } from '../../../plugins/auth/flows/refresh.ts'
import { inWorld, resetTokenFor, signedUp, type World } from './support/world.ts'

const NEXT = 'another horse battery'
const THIRD = 'a third horse battery'
const HOUR = 3600

const providerOf = ({ app }: World) =>
  (app.services as { authProvider: ConnectedPasswordProvider }).authProvider

describe('A refresh token that another request has replaced', () => {
  const caller = { id: 'request', ip: '192.0.2.1', set: () => undefined }

  it('is free within the grace time, whatever the limit', () => {
    const refresh = { session: { limit: 1, window: '1h' } } as const
    return inWorld({ limited: true, auth: { limits: { refresh } } }, async (world) => {
      const client = await signedUp(world)
      const [tab, next] = [client.copy(), client.copy()]
      expect((await client.post('/auth/refresh')).status).to.equal(200)
      expect((await tab.post('/auth/refresh')).status).to.equal(200)
      expect((await next.post('/auth/refresh')).status).to.equal(200)
      expect((await client.post('/auth/refresh')).status).to.equal(429)
    })
  })

  it('gives nothing when a logout comes before its exchange', () =>
    inWorld({}, async (world) => {
      const client = await signedUp(world)
      const other = client.copy()
      world.storage.interruptions.meanwhile('update sessions', () => other.post('/auth/logout'))
      expect((await client.post('/auth/refresh')).status).to.equal(401)
    }))

  it('gives nothing to a second tab if a logout comes before the exchange of the first, and cannot delete the session', () =>
    inWorld({}, async (world) => {
      const client = await signedUp(world)
      const [tab, other] = [client.copy(), client.copy()]
      const { interruptions } = world.storage
      interruptions.meanwhile('update sessions', async () => {
        interruptions.reject('delete sessions', 'disk', 2)
        expect((await other.post('/auth/logout')).status).to.equal(500)
      })
      const [, second] = await Promise.all([client.post('/auth/refresh'), tab.post('/auth/refresh')])
      expect(second.status).to.equal(401)
    }))

  it('accuses nobody whose connection closes a moment later', () =>
    inWorld({}, async (world) => {
      const client = await signedUp(world)
      const { refreshToken = null } = client
      for (let count = 0; count < 2; count++) await client.post('/auth/refresh')
      let hasLeft = false
      const signal = {
        get aborted() {
          setTimeout(() => (hasLeft = true), 5)
          return hasLeft
        },
      } as AbortSignal
      const error: unknown = await providerOf(world)
        .flows.refresh(refreshToken, { ...caller, signal })
        .catch((reason: unknown) => reason)
      expect(error).to.have.property('status', 503)
      expect((await client.post('/auth/refresh')).status).to.equal(200)
    }))
})

describe('A token of two generations ago', () => {
  const ROTATED = 1_000_000
  const caller = { id: 'request', ip: '192.0.2.1', set: () => undefined }

  /** The status of an exchange that arrived at one time and is judged at another, both in milliseconds after the rotation. */
  async function judged(arrival: number, present: number, hasEnded?: true): Promise<number> {
    const session = {
      id: 'one',
      userId: 'ada',
      tokenHash: 'third',
      previousHash: 'second',
      passwordVersion: 0,
    }
    const parts = {
      refreshTokens: { hashes: () => ({ hash: 'first', familyHash: 'family' }) },
      endedSessions: {
        has: () => false,
        // An incomplete list may have forgotten the session.
        isComplete: () => !hasEnded,
        expiry: () => ROTATED,
        end: () => undefined,
      },
      clock: { now: () => ROTATED },
      features: [],
      lifetimes: { access: 900, grace: 10 },
      rotations: {
        startedAt: () => () => ROTATED + arrival,
        now: async () => ROTATED + present,
        roughly: () => ROTATED + present,
      },
      events: { emit: () => undefined },
      store: {
        findSession: async () => ({ ...session, rotatedAt: ROTATED, expiresAt: ROTATED + 1000 }),
        findUserById: async () => ({ id: 'ada', isDisabled: false, passwordVersion: 0, keptSession: null }),
        publishEnded: async () => undefined,
        deleteSession: async () => true,
        hasEnded: async () => hasEnded,
      },
    } as unknown as AuthParts
    const error: unknown = await createRefresh(parts)('token', caller).catch((reason: unknown) => reason)
    return (error as { status: number }).status
  }

  for (const [what, arrival, present, status] of [
    ['was stolen when its request came after the rotation', 1, 100, 401],
    ['was stolen when its request came within the error of measurement before it', -5, 100, 401],
    ['was overtaken when its request came earlier', -6, 100, 503],
    ['was stolen when the rotation lies in the future, since the clock was set back', -100, -6, 401],
    ['was overtaken when the rotation is as far ahead as two readings may differ', -100, -5, 503],
  ] as const)
    it(what, async () => expect(await judged(arrival, present)).to.equal(status))

  it('is refused as that of an ended session if the store has its end, before anything else is judged', async () =>
    expect(await judged(-6, 100, true)).to.equal(401))
})

describe('A password that is reset', () => {
  const reset = async (world: World, password: string) =>
    (await world.client().post('/auth/reset-password', { token: await resetTokenFor(world), password }))
      .status

  it('leaves no session and no reset token behind', () =>
    inWorld({}, async (world) => {
      await signedUp(world)
      await resetTokenFor(world)
      expect(await reset(world, NEXT)).to.equal(200)
      expect([await world.storage.sessions(), await world.storage.resetTokens()]).to.deep.equal([[], []])
    }))

  it('keeps the time at which the address was proven first', () =>
    inWorld({}, async (world) => {
      await signedUp(world)
      expect(await reset(world, NEXT)).to.equal(200)
      const [{ email_verified_at: first }] = await world.storage.users()
      world.clock.advance(HOUR)
      expect(await reset(world, THIRD)).to.equal(200)
      expect((await world.storage.users())[0].email_verified_at).to.equal(first)
    }))

  it('may not be the name of its owner', () =>
    inWorld({}, async (world) => {
      await signedUp(world)
      expect(await reset(world, 'ada@example.com')).to.equal(422)
    }))

  it('is refused for an account that was disabled behind the application', () =>
    inWorld({}, async (world) => {
      await signedUp(world)
      const token = await resetTokenFor(world)
      await world.storage.changeUsers({ disabled_at: new Date(world.clock.now()) })
      const answer = await world.client().post('/auth/reset-password', { token, password: NEXT })
      expect(answer.body.code).to.equal('invalid_reset_token')
    }))
})
