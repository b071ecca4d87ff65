import { subscribe, unsubscribe } from 'node:diagnostics_channel'
import { once } from 'node:events'
import { mkdtempSync, readdirSync, rmSync, truncateSync, writeFileSync } from 'node:fs'
import {
  Agent,
  request,
  type ClientRequest,
  type IncomingMessage,
  type RequestOptions,
  type ServerResponse,
} from 'node:http'
import type { Socket } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Readable } from 'node:stream'
import { setTimeout as wait } from 'node:timers/promises'
import { gzipSync } from 'node:zlib'
import { expect } from 'chai'
import { createApp, createRouter, file, scoped, sendFile, sse, type Context, type Handler } from 'mortar'
import { object } from 'yup'
import { throughBothAdapters } from '../support/adapters.ts'
import { countKept } from '../support/collect-garbage.ts'
import { disposition, multipart, MULTIPART_B, temporaryFiles } from '../support/multipart.ts'
import { as, createSessions } from '../support/session-brick.ts'

const COUNT = 5
/** Its context, request and response. */
const NOTED = 3
const folder = mkdtempSync(join(tmpdir(), 'kept-'))
const small = join(folder, 'small.txt')
const large = join(folder, 'large.bin')

const POST = { method: 'POST', headers: { 'content-type': MULTIPART_B } }
const formOf = (size: number): string => multipart([disposition('name="f"; filename="f"'), 'x'.repeat(size)])
const later = async (): Promise<void> => wait(0)

/** A request that ends by itself: the handler, its definition, the request and its body. */
interface Whole {
  readonly run: Handler
  readonly definition?: object
  readonly send?: RequestOptions
  readonly body?: string | Buffer
  readonly status?: number
}

const guarded = { auth: true }
const form = { body: object({ f: file().required() }), multipart: { maxFileSize: 1000 } }

const WHOLE: Readonly<Record<string, Whole>> = {
  'a value': { run: () => ({ is: 'value' }) },
  'an error': { run: () => Promise.reject(new Error('broken')), status: 500 },
  'ctx.signal': { run: ({ signal }) => ({ aborted: signal.aborted }) },
  'a promise within its time': { run: () => later().then(() => 'value') },
  'a promise that fails within its time': {
    run: () => later().then(() => Promise.reject(new Error('x'))),
    status: 500,
  },
  'a stream': { run: () => Readable.from(['a', 'b']) },
  'a stream that fails before its first byte': {
    run: () =>
      new Readable({
        read() {
          this.destroy(new Error('broken'))
        },
      }),
    status: 500,
  },
  'a file': { run: (ctx) => sendFile(ctx, small) },
  'a part of a file': {
    run: (ctx) => sendFile(ctx, small),
    send: { headers: { range: 'bytes=0-3' } },
    status: 206,
  },
  'a part that a file does not have': {
    run: (ctx) => sendFile(ctx, small),
    send: { headers: { range: 'bytes=99-' } },
    status: 416,
  },
  'a file that its client has': {
    run: (ctx) => sendFile(ctx, small),
    send: { headers: { 'if-modified-since': 'Fri, 31 Dec 2100 00:00:00 GMT' } },
    status: 304,
  },
  'the headers of a file': { run: (ctx) => sendFile(ctx, small), send: { method: 'HEAD' } },
  'a folder': { run: (ctx) => sendFile(ctx, folder), status: 404 },
  'a file that is not returned': {
    run: async (ctx) => {
      const { length } = String(await sendFile(ctx, small))
      return Buffer.alloc(length)
    },
  },
  'server-sent events': { run: (ctx) => sse(ctx, ['one', 'two']) },
  'server-sent events that are not returned': {
    run: async (ctx) => {
      await sse(ctx, ['one'])
      return 'text'
    },
  },
  'a form': { run: ({ body }) => typeof body, definition: form, send: POST, body: formOf(10) },
  'a form that is refused': {
    run: () => 'read',
    definition: form,
    send: POST,
    body: formOf(2000),
    status: 413,
  },
  'a compressed body': {
    run: () => 'read',
    send: { method: 'POST', headers: { 'content-type': 'application/json', 'content-encoding': 'gzip' } },
    body: gzipSync('{"a":1}'),
  },
  'a compressed body that is refused': {
    run: () => 'read',
    definition: { bodyLimit: 1000 },
    send: { method: 'POST', headers: { 'content-type': 'application/json', 'content-encoding': 'gzip' } },
    body: gzipSync(JSON.stringify('x'.repeat(100_000))),
    status: 413,
  },
  'a service with a disposer': { run: ({ services }) => services['disposed'] },
  'a guarded value': { run: () => 'value', definition: guarded },
  'a guarded stream': { run: () => Readable.from(['a', 'b']), definition: guarded },
  'a path without a route': { run: () => 'value', send: { path: '/nowhere' }, status: 404 },
}

/** A response that does not end by itself. */
const LONG: Readonly<Record<string, Handler>> = {
  'a stream': () => {
    const stream = new Readable({ read() {} })
    stream.push('first')
    return stream
  },
  'an async iterable': async function* ({ signal }: Context) {
    yield 'first'
    await once(signal, 'abort')
  },
  'a large file': (ctx) => sendFile(ctx, large),
  'server-sent events': (ctx) =>
    sse(ctx, async function* ({ signal }) {
      yield 'first'
      await once(signal, 'abort')
    }),
  'a service with a disposer and a stream': ({ services }) => {
    const stream = new Readable({ read() {} })
    stream.push(String(services['disposed']))
    return stream
  },
}

const sessions = createSessions()

const method = ({ send }: Whole): 'get' | 'post' => (send?.method === 'POST' ? 'post' : 'get')

/** An application with these routes, by their names. */
function appOf(routes: Readonly<Record<string, Whole>>) {
  const router = createRouter().get('/last', () => 'last')
  for (const [name, whole] of Object.entries(routes))
    router[method(whole)](pathOf(name), whole.definition ?? {}, whole.run as never)
  return createApp({ logger: false, environment: 'production', handlerTimeout: '1h' })
    .use(sessions.brick)
    .provide({ disposed: scoped(({ ctx }) => ({ is: ctx.path }), { dispose: () => undefined }) })
    .use((ctx, next) => {
      noted.push(new WeakRef(ctx))
      return next()
    })
    .use(router)
}

const pathOf = (name: string): string => `/${name.replaceAll(/[^a-z]/gi, '-')}`

/** Contexts, requests and responses since the last look, and the connections that may be open. */
const noted: WeakRef<object>[] = []
const sockets = new Set<Socket>()

function note(message: unknown): void {
  const { request: req, response: res } = message as { request: IncomingMessage; response: ServerResponse }
  noted.push(new WeakRef(req), new WeakRef(res))
  sockets.add(req.socket)
}

/** Descriptors and timers of the process, listeners of its connections, uploads, and watched credentials. */
function resources(): Record<string, number> {
  // A closed connection keeps its last request.
  for (const socket of sockets) if (socket.destroyed) sockets.delete(socket)
  const heard = (socket: Socket): number =>
    socket.eventNames().reduce((sum, event) => sum + socket.listenerCount(event), 0)
  return {
    descriptors: process.platform === 'win32' ? 0 : readdirSync('/dev/fd').length,
    timers: process.getActiveResourcesInfo().filter((kind) => kind === 'Timeout').length,
    listeners: Math.max(0, ...[...sockets].map(heard)),
    uploads: temporaryFiles().length,
    watched: sessions.watchers.size,
  }
}

/** Resolves with the kinds that have more than before, as soon as none has more. */
async function more(before: Readonly<Record<string, number>>): Promise<string[]> {
  for (let look = 0; ; look++) {
    const now = resources()
    const found = Object.keys(now).filter((kind) => now[kind]! > before[kind]!)
    if (found.length === 0 || look === 100) return found
    await wait(5)
  }
}

describe('What an application keeps of a request that is over', () => {
  before(() => {
    writeFileSync(small, 'content')
    writeFileSync(large, '')
    truncateSync(large, 64 * 1024 * 1024)
    subscribe('http.server.request.start', note)
  })
  after(() => {
    unsubscribe('http.server.request.start', note)
    rmSync(folder, { recursive: true })
  })
  afterEach(() => sockets.clear())

  /** Runs `round` for each name, and resolves with the resources that all rounds but the first keep. */
  async function keptOf(names: readonly string[], round: (name: string) => Promise<void>): Promise<string[]> {
    const lists = new Map<string, readonly WeakRef<object>[]>()
    const kept: string[] = []
    for (const name of names) {
      await round(name)
      await more(resources())
      const before = resources()
      noted.length = 0
      for (let index = 0; index < COUNT; index++) await round(name)
      kept.push(...(await more(before)).map((kind) => `${kind}: ${name}`))
      // Node may keep the last request for a while.
      lists.set(name, noted.splice(0).slice(0, -NOTED))
      expect(lists.get(name), name).to.have.length.at.least((COUNT - 1) * NOTED)
    }
    await countKept([...lists.values()].flat())
    const inMemory = [...lists].filter(([, refs]) => refs.some((ref) => ref.deref() !== undefined))
    return [...kept, ...inMemory.map(([name]) => `memory: ${name}`)]
  }

  throughBothAdapters((open) => {
    it('is nothing after a whole response on an open connection', async () => {
      const { url } = await open(appOf(WHOLE))
      const agent = new Agent({ keepAlive: true, maxSockets: 1 })
      const ask = async (
        path: string,
        options: RequestOptions = {},
        content?: string | Buffer,
      ): Promise<number> => {
        const headers = { ...as('ada'), ...options.headers }
        const req = request(new URL(path, url), { agent, ...options, headers }).end(content)
        const [res] = (await once(req, 'response')) as [IncomingMessage]
        await once(res.resume(), 'end')
        return res.statusCode!
      }
      const kept = await keptOf(Object.keys(WHOLE), async (name) => {
        const { send, body, status = 200 } = WHOLE[name]!
        expect(await ask(send?.path ?? pathOf(name), send, body), name).to.equal(status)
        // The connection keeps its last request.
        await ask('/last')
      })
      agent.destroy()
      expect(kept).to.deep.equal([])
    })

    const endSessions = (): void => {
      sessions.end()
    }
    const ENDS: Readonly<Record<string, (req: ClientRequest) => void>> = {
      'client has left': (req) => void req.destroy(),
      'session has ended': endSessions,
      'client leaves as its session ends': (req) => {
        req.destroy()
        endSessions()
      },
    }
    for (const [end, act] of Object.entries(ENDS))
      it(`is nothing when its ${end}`, async () => {
        const routes = Object.entries(LONG).map(
          ([name, run]) => [name, { run, definition: guarded }] as const,
        )
        const { url } = await open(appOf(Object.fromEntries(routes)))
        const kept = await keptOf(Object.keys(LONG), async (name) => {
          const req = request(url + pathOf(name), { agent: false, headers: as('ada') })
          req.on('error', () => undefined).end()
          const [res] = (await once(req, 'response')) as [IncomingMessage]
          await once(
            res.on('error', () => undefined),
            'readable',
          )
          act(req)
          if (!req.destroyed) req.destroy()
        })
        expect(kept).to.deep.equal([])
      })
  })
})
