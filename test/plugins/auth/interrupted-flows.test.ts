import { setImmediate as turn } from 'node:timers/promises'
import { expect } from 'chai'
import type { ConnectedPasswordProvider } from '@mortar/auth/basic'
import { deferred } from '../../support/deferred.ts'
import type { Client } from './support/client.ts'
import { ADA, inWorld, PASSWORD, resetTokenFor, settle, signedUp, type World } from './support/world.ts'

const NEXT = 'another horse battery'
const THIRD = 'a third horse battery'
/** Seconds after which the ended sessions of before are no longer remembered: now the user's row decides. */
const HOUR = 3600
const change = { current: PASSWORD, next: NEXT }

const providerOf = ({ app }: World) =>
  (app.services as { authProvider: ConnectedPasswordProvider }).authProvider
const sessionIds = async (world: World): Promise<string[]> =>
  (await world.storage.sessions()).map(({ id }) => id as string)

/** Ada's session as an earlier version left it that kept one session alive through a change of the password. */
async function keptSession(world: World) {
  const kept = await signedUp(world)
  const [id] = await sessionIds(world)
  await world.storage.changeUsers({ password_version: 1, kept_session_id: id })
  const other = world.client()
  await other.post('/auth/login', ADA)
  return { kept, other }
}

describe('A flow that another request comes in between', () => {
  it('refuses change-password whose current password was reset meanwhile', () =>
    inWorld({}, async (world) => {
      const client = await signedUp(world)
      const reset = { token: await resetTokenFor(world), password: THIRD }
      world.storage.interruptions.meanwhile('update users', () =>
        world.client().post('/auth/reset-password', reset),
      )
      const answer = await client.post('/auth/change-password', change)
      expect([answer.status, answer.body.code]).to.deep.equal([401, 'invalid_credentials'])
      expect((await world.client().post('/auth/login', { ...ADA, password: THIRD })).status).to.equal(200)
    }))

  it('refuses change-password whose new session a sign-out has ended before it began', () =>
    inWorld({}, async (world) => {
      const client = await signedUp(world)
      const { id } = (await client.get('/auth/me')).body
      world.storage.interruptions.meanwhile('insert sessions', () => providerOf(world).signOut(id))
      const answer = await client.post('/auth/change-password', change)
      expect([answer.status, answer.body.code]).to.deep.equal([401, 'invalid_token'])
      expect(await sessionIds(world)).to.deep.equal([])
    }))

  it('lets signOut keep the password that a reset stores meanwhile', () =>
    inWorld({}, async (world) => {
      const { id } = (await (await signedUp(world)).get('/auth/me')).body
      const reset = { token: await resetTokenFor(world), password: THIRD }
      world.storage.interruptions.meanwhile('update users', () =>
        world.client().post('/auth/reset-password', reset),
      )
      await providerOf(world).signOut(id)
      expect((await world.client().post('/auth/login', { ...ADA, password: THIRD })).status).to.equal(200)
    }))

  it('lets signOut end a session that begins after a reset meanwhile', () =>
    inWorld({}, async (world) => {
      const [client, later] = [await signedUp(world), world.client()]
      const reset = { token: await resetTokenFor(world), password: THIRD }
      world.storage.interruptions.meanwhile('update users', async () => {
        await world.client().post('/auth/reset-password', reset)
        await later.post('/auth/login', { ...ADA, password: THIRD })
      })
      await providerOf(world).signOut((await client.get('/auth/me')).body.id)
      expect((await later.post('/auth/refresh')).status).to.equal(401)
    }))

  it('refuses a reset whose token is used up meanwhile', () =>
    inWorld({}, async (world) => {
      await signedUp(world)
      const reset = { token: await resetTokenFor(world), password: THIRD }
      world.storage.interruptions.meanwhile('delete reset tokens', () =>
        world.client().post('/auth/reset-password', reset),
      )
      const answer = await world.client().post('/auth/reset-password', { ...reset, password: NEXT })
      expect([answer.status, answer.body.code]).to.deep.equal([401, 'invalid_reset_token'])
      expect((await world.client().post('/auth/login', { ...ADA, password: THIRD })).status).to.equal(200)
    }))

  it('refuses a reset when a sign-out comes between its token and its password', () =>
    inWorld({}, async (world) => {
      const { id } = (await (await signedUp(world)).get('/auth/me')).body
      const token = await resetTokenFor(world)
      world.storage.interruptions.meanwhile('update users', () => providerOf(world).signOut(id))
      const answer = await world.client().post('/auth/reset-password', { token, password: THIRD })
      expect([answer.status, answer.body.code]).to.deep.equal([401, 'invalid_reset_token'])
      expect((await world.client().post('/auth/login', ADA)).status).to.equal(200)
    }))
})

describe('A refresh that waits for one with the same token', () => {
  it('does not share the verdict about a client that has left', () =>
    inWorld({}, async (world) => {
      const client = await signedUp(world)
      const { refreshToken = null } = client
      for (let count = 0; count < 2; count++) await client.post('/auth/refresh')
      const caller = { id: 'request', ip: '192.0.2.1', set: () => undefined }
      const statusOf = (signal?: AbortSignal) =>
        providerOf(world)
          .flows.refresh(refreshToken, { ...caller, ...(signal && { signal }) })
          .then(
            () => 200,
            ({ status }) => status as number,
          )
      expect(await Promise.all([statusOf(AbortSignal.abort()), statusOf()])).to.deep.equal([503, 401])
      expect(world.typesOf().slice(-2)).to.deep.equal(['auth.token.refused', 'auth.token.reused'])
    }))

  const ends: [end: string, end: (world: World, client: Client) => Promise<unknown>][] = [
    ['by a new password', ({ storage }) => storage.changeUsers({ password_version: 1 })],
    [
      'by a process that has left its row',
      async ({ storage }, client) => {
        storage.interruptions.reject('delete sessions', 'disk I/O error', 2)
        expect((await client.post('/auth/logout')).status).to.equal(500)
      },
    ],
  ]
  for (const [name, end] of ends)
    it(`looks at the session again, which may have ended meanwhile ${name}`, () =>
      inWorld({}, async (world) => {
        const client = await signedUp(world)
        const { refreshToken = null } = client
        const caller = { id: 'request', ip: '192.0.2.1', set: () => undefined }
        const statusOf = () =>
          providerOf(world)
            .flows.refresh(refreshToken, caller)
            .then(
              () => 200,
              ({ status }) => status as number,
            )
        world.storage.interruptions.afterwards('update sessions', () => end(world, client))
        expect(await Promise.all([statusOf(), statusOf()])).to.deep.equal([200, 401])
      }))
})

describe('A session that an earlier version kept through a change of the password', () => {
  it('lives on, and ends with the next change', () =>
    inWorld({}, async (world) => {
      const { kept, other } = await keptSession(world)
      expect((await kept.post('/auth/refresh')).status).to.equal(200)
      await other.post('/auth/change-password', change)
      world.clock.advance(HOUR)
      expect((await kept.post('/auth/refresh')).status).to.equal(401)
    }))

  it('ends with a reset', () =>
    inWorld({}, async (world) => {
      const { kept } = await keptSession(world)
      const token = await resetTokenFor(world)
      const reset = await world.client().post('/auth/reset-password', { token, password: NEXT })
      expect(reset.status).to.equal(200)
      world.clock.advance(HOUR)
      expect((await kept.post('/auth/refresh')).status).to.equal(401)
    }))

  it('ends with signOut', () =>
    inWorld({}, async (world) => {
      const { kept } = await keptSession(world)
      await providerOf(world).signOut((await kept.get('/auth/me')).body.id)
      world.clock.advance(HOUR)
      expect((await kept.post('/auth/refresh')).status).to.equal(401)
    }))
})

describe('A reset token', () => {
  it('is for the password version of its time, so it works after an earlier change', () =>
    inWorld({}, async (world) => {
      await (await signedUp(world)).post('/auth/change-password', change)
      const token = await resetTokenFor(world)
      const reset = await world.client().post('/auth/reset-password', { token, password: THIRD })
      expect(reset.status, reset.text).to.equal(200)
    }))
})

describe('Wrong current passwords', () => {
  it('are counted for all sessions of a user together', () =>
    inWorld({ limited: true }, async (world) => {
      const clients = [await signedUp(world), world.client()]
      await clients[1]!.post('/auth/login', ADA)
      const statuses = []
      for (let count = 0; count < 6; count++) {
        const body = { current: 'wrong horse', next: NEXT }
        statuses.push((await clients[count % 2]!.post('/auth/change-password', body)).status)
      }
      expect(statuses).to.deep.equal([401, 401, 401, 401, 401, 429])
    }))
})

describe('The work behind forgot-password', () => {
  it('logs an error when it cannot be completed', () =>
    inWorld({}, async (world) => {
      await signedUp(world)
      await settle(world)
      const errors: unknown[][] = []
      const { logger } = world.app.services as unknown as { logger: { error: (...args: unknown[]) => void } }
      logger.error = (...args) => void errors.push(args)
      world.storage.interruptions.failAt(2)
      expect((await world.client().post('/auth/forgot-password', { email: ADA.email })).status).to.equal(200)
      await settle(world)
      expect(errors).to.deep.equal([
        [{ reason: 'disk I/O error' }, 'A request for a reset mail could not be completed: disk I/O error'],
      ])
    }))

  it('is waited for by close()', async () => {
    const { promise, resolve } = deferred()
    let hasClosed = false
    await inWorld({ auth: { sendResetEmail: () => promise } }, async (world) => {
      await signedUp(world)
      await world.client().post('/auth/forgot-password', { email: ADA.email })
      const closing = world.app.close().then(() => (hasClosed = true))
      for (let count = 0; count < 50; count++) await turn()
      expect(hasClosed).to.equal(false)
      resolve()
      await closing
    })
  })
})
