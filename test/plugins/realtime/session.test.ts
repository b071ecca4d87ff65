import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setImmediate as nextTurn } from 'node:timers/promises'
import { expect } from 'chai'
import { auth } from '@mortar/auth'
import { basicAuth } from '@mortar/auth/basic'
import * as authSchema from '@mortar/auth/basic/schema'
import * as challenges from '@mortar/auth/challenges/schema'
import { ticket } from '@mortar/auth/ticket'
import { database } from '@mortar/database'
import { createApp, createRouter, type App, type DefinedRoute } from 'mortar'
import { createClient } from 'mortar/testing'
import { defineSocket, realtime } from '@mortar/realtime'
import { connect } from '@mortar/realtime/testing'
import { object, string } from 'mortar/yup'
import { throughBothAdapters } from '../../support/adapters.ts'
import { deferred } from '../../support/deferred.ts'
import { handshake, openRaw } from './raw-socket.ts'
import { createSessions } from '../../support/session-brick.ts'

const message = object({ text: string().required() })
const SESSION_ENDED = { code: 4401, reason: 'session_ended' }
const PASSWORD = 'correct horse battery'

describe('A socket and its session', () => {
  throughBothAdapters((open) => {
    const serve = async (route: DefinedRoute) => {
      const sessions = createSessions()
      const app = createApp({ logger: false, environment: 'test' })
        .use(sessions.brick)
        .use(realtime())
        .use(createRouter().get('/', route)) as unknown as App
      const { url } = await open(app)
      return { app, sessions, url }
    }

    it('end together, and ctx.signal aborts with a 401', async () => {
      const reasons: unknown[] = []
      const handled: unknown[] = []
      const route = defineSocket({ auth: true, receive: message, send: message }, async (ctx, socket) => {
        ctx.signal.addEventListener('abort', () => reasons.push(ctx.signal.reason))
        for await (const each of socket) {
          handled.push(each)
          socket.send(each)
        }
      })
      const { app, sessions } = await serve(route)
      const socket = await connect<typeof route>(app, '/', { token: 'ada' })
      socket.send({ text: 'a' })
      await socket.next()
      sessions.end()
      socket.send({ text: 'after the end' })
      expect(await socket.closed).to.deep.equal(SESSION_ENDED)
      expect(reasons[0]).to.include({ status: 401, code: 'invalid_token' })
      expect(handled).to.deep.equal([{ text: 'a' }])
      expect(sessions.watchers.size).to.equal(0)
    })

    it('end each wait of the handler for a client that does not read', async () => {
      const waits = deferred()
      const ended: number[] = []
      const route = defineSocket({ auth: true, send: message }, async (_ctx, socket) => {
        socket.send({ text: 'x'.repeat(20_000_000) })
        const drained = [1, 2, 3].map((wait) => socket.drained().then(() => ended.push(wait)))
        waits.resolve()
        await Promise.all(drained)
      })
      const { url, sessions } = await serve(route)
      const slow = openRaw(url, handshake('/', { Authorization: 'Bearer ada' }))
      slow.socket.pause()
      await waits.promise
      await nextTurn()
      expect(ended).to.deep.equal([])
      sessions.end()
      await nextTurn()
      expect(ended).to.deep.equal([1, 2, 3])
      slow.socket.destroy()
    })

    it('are not watched longer than the socket is open, nor on a public route', async () => {
      const route = defineSocket({ auth: true }, () => undefined)
      const { app, sessions } = await serve(route)
      const socket = await connect(app, '/', { token: 'ada' })
      expect(await socket.closed).to.deep.equal({ code: 1000, reason: '' })
      await app.close()
      expect(sessions.watchers.size).to.equal(0)
    })
  })

  it('end in another process within 1.1 s of a logout, a new password or signOut, those of tickets too', async () => {
    const folder = mkdtempSync(join(tmpdir(), 'mortar-realtime-'))
    const route = defineSocket({ auth: true }, (ctx) => nextAbort(ctx.signal))
    const create = () =>
      createApp({ logger: false, environment: 'test' })
        .use(
          database({
            type: 'better-sqlite3',
            database: join(folder, 'app.db'),
            entities: [authSchema, challenges],
            synchronize: true,
          }),
        )
        .use(
          auth(
            basicAuth({
              secret: 'x'.repeat(8) + 'abcdefghijklmnopqrstuvwxyz012345',
              features: [ticket()],
            }),
          ),
        )
        .use(realtime())
        .use(createRouter().get('/', route))
    const [first, second] = [create(), create()]
    await first.ready()
    await second.ready()
    const ends: Readonly<Record<string, (client: Signed) => Promise<unknown>>> = {
      logout: ({ client }) => client.post('/auth/logout'),
      'change-password': ({ other }) =>
        other.post('/auth/change-password', { current: PASSWORD, next: `${PASSWORD} staple` }),
      signOut: ({ userId }) => first.services.authProvider.signOut(userId),
    }
    for (const [name, end] of Object.entries(ends)) {
      const signed = await signUp(first, `${name}@example.com`)
      const issued = await signed.client.post('/auth/ticket', { path: '/' })
      const sockets = [
        await connect(second, `/?access_token=${issued.body.ticket}`),
        await connect(first, '/', { token: signed.token }),
        await connect(second, '/', { token: signed.token }),
      ]
      const stranger = await signUp(first, `stranger-${name}@example.com`)
      const untouched = await connect(second, '/', { token: stranger.token })
      const begun = performance.now()
      await end(signed)
      expect(await Promise.all(sockets.map(({ closed }) => closed))).to.deep.equal(
        sockets.map(() => SESSION_ENDED),
      )
      expect(performance.now() - begun, name).to.be.below(2000)
      untouched.close(1000)
      expect((await untouched.closed).code).to.equal(1000)
    }
    await first.close()
    await second.close()
    rmSync(folder, { recursive: true })
  })
})

type Signed = Awaited<ReturnType<typeof signUp>>

async function signUp(app: App, email: string) {
  const client = createClient(app)
  const { body } = await client.post('/auth/signup', { name: 'Ada', email, password: PASSWORD })
  const other = createClient(app)
  const login = await other.post('/auth/login', { email, password: PASSWORD })
  const { accessToken: token, user } = body as { accessToken: string; user: { id: string } }
  return {
    client: client.withToken(token),
    other: other.withToken(login.body.accessToken),
    token,
    userId: user.id,
  }
}

function nextAbort(signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    signal.addEventListener('abort', () => resolve())
  })
}
