import { mock } from 'node:test'
import { setTimeout as wait } from 'node:timers/promises'
import { expect } from 'chai'
import { createApp, createRouter, scoped } from 'mortar'
import { defineSocket, realtime } from '@mortar/realtime'
import type { Sockets } from '../../../plugins/realtime/sockets.ts'
import type { Socket } from '../../../plugins/realtime/socket.ts'
import { recorder } from '../../app/recorder.ts'
import { throughBothAdapters } from '../../support/adapters.ts'
import { countKept } from '../../support/collect-garbage.ts'
import { deferred } from '../../support/deferred.ts'
import { frame, handshake, openRaw, type RawSocket } from './raw-socket.ts'
import { as, createSessions } from '../../support/session-brick.ts'
import { UNREADABLE } from '../../support/unreadable-error.ts'

/** An open socket: its two sides, and the end of its handler. */
interface Open {
  readonly client: RawSocket['socket']
  readonly server: Socket
  readonly endHandler: (error?: Error) => void
  readonly sessions: ReturnType<typeof createSessions>
}

const ENDS: Readonly<Record<string, (open: Open) => unknown>> = {
  'its client closes it': ({ client }) => client.write(frame(0x88, '\x03\xe8')),
  'its client is lost': ({ client }) => client.destroy(),
  'its client sends a broken frame': ({ client }) => client.write(frame(0xff)),
  'its handler returns': ({ endHandler }) => endHandler(),
  'its handler fails': ({ endHandler }) => endHandler(new Error('broken')),
  'its handler throws an error that cannot be read': ({ endHandler }) => endHandler(UNREADABLE),
  'its handler closes it': ({ server }) => server.close(),
  'its session ends': ({ sessions }) => sessions.end(),
}

async function untilEnd(socket: AsyncIterable<never, void>): Promise<undefined> {
  for await (const _message of socket);
}

describe('The end of a socket', () => {
  throughBothAdapters((open) => {
    async function serve() {
      const sessions = createSessions()
      const lines: string[] = []
      const contexts: WeakRef<object>[] = []
      let begun = deferred<Pick<Open, 'server' | 'endHandler'>>()
      let disposed = 0
      const route = defineSocket({ auth: true }, async (ctx, server) => {
        contexts.push(new WeakRef(ctx))
        void ctx.services['own']
        const end = deferred<Error | undefined>()
        begun.resolve({ server, endHandler: end.resolve })
        // It goes on until its socket has ended, unless it ends before.
        const error = await Promise.race([end.promise, untilEnd(server)])
        if (error !== undefined) throw error
      })
      const app = createApp({ logger: recorder(lines), environment: 'test', logRequests: false })
        .use(sessions.brick)
        .use(realtime())
        .provide({ own: scoped(() => ({}), { dispose: () => void disposed++ }) })
        .use(createRouter().get('/', route))
      const { url } = await open(app)
      await app.ready()
      const places = app.services['realtime'] as unknown as Sockets
      const counts = () => ({
        disposed,
        closed: [...places.closed.values()].reduce((sum, count) => sum + count, 0),
        lines: lines.filter((line) => line.includes('socket.closed')).length,
      })
      async function round(ends: readonly string[]): Promise<object> {
        const before = counts()
        begun = deferred()
        const raw = openRaw(url, handshake('/', as('ada')))
        const parts = { client: raw.socket, sessions, ...(await begun.promise) }
        await raw.until('\r\n\r\n')
        for (const end of ends) ENDS[end]!(parts)
        await raw.ended
        for (let look = 0; look < 20_000 && counts().disposed === before.disposed; look++) await wait(1)
        // What comes once too often comes soon.
        await wait(1)
        const now = counts()
        const left = { size: places.size, watched: sessions.watchers.size }
        return {
          disposed: now.disposed - before.disposed,
          closed: now.closed - before.closed,
          lines: now.lines - before.lines,
          ...left,
        }
      }
      return { round, contexts }
    }

    for (const first of Object.keys(ENDS))
      it(`comes once, and leaves nothing behind, also with another one in the same turn: ${first}`, async () => {
        const { round, contexts } = await serve()
        const once = { disposed: 1, closed: 1, lines: 1, size: 0, watched: 0 }
        for (const second of Object.keys(ENDS))
          expect(await round(second === first ? [first] : [first, second]), second).to.deep.equal(once)
        // Node may keep the last connection for a while.
        expect(await countKept(contexts.slice(0, -1))).to.equal(0)
      })
  })
})

describe('A socket whose client shows no sign of life', () => {
  afterEach(() => mock.timers.reset())

  it('is pinged once in 30 seconds, as each other one, and lost 30 seconds after that', async () => {
    mock.timers.enable({ apis: ['setInterval'] })
    const route = defineSocket({}, (_ctx, socket) => untilEnd(socket))
    const app = createApp({ logger: false, environment: 'test' })
      .use(realtime())
      .use(createRouter().get('/', route))
    const { url } = await app.listen(0, '127.0.0.1')
    const sockets = [openRaw(url, handshake('/')), openRaw(url, handshake('/'))]
    for (const each of sockets) await each.until('\r\n\r\n')
    mock.timers.tick(30_000)
    for (const each of sockets) await each.until('\x89\x00')
    mock.timers.tick(30_000)
    mock.timers.reset()
    for (const each of sockets) {
      expect(await each.ended).to.equal(undefined)
      expect(each.text().split('\x89\x00')).to.have.length(2)
    }
    await app.close()
  })
})
