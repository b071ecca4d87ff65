import { AsyncLocalStorage } from 'node:async_hooks'
import { subscribe, tracingChannel, unsubscribe } from 'node:diagnostics_channel'
import { EventEmitter, once } from 'node:events'
import type { ServerResponse } from 'node:http'
import { connect } from 'node:net'
import { Readable } from 'node:stream'
import { expect } from 'chai'
import {
  BadRequest,
  createApp,
  createRouter,
  HttpError,
  type Logger,
  type ObservedRequest,
  REQUEST_CHANNEL,
  singleton,
} from 'mortar'
import { object, string } from 'yup'
import { throughBothAdapters } from '../support/adapters.ts'

const EVENTS = ['start', 'end', 'asyncStart', 'asyncEnd', 'error'] as const

/** Subscribes to the five events, and emits the request at `asyncEnd`. */
class Observer extends EventEmitter {
  readonly seen: string[] = []
  readonly requests: ObservedRequest[] = []
  readonly channel = tracingChannel<unknown, ObservedRequest>(REQUEST_CHANNEL)
  private readonly handlers = Object.fromEntries(
    EVENTS.map((event) => [event, (message: unknown) => this.note(event, message as ObservedRequest)]),
  )

  constructor() {
    super()
    for (const event of EVENTS) subscribe(`tracing:mortar.request:${event}`, this.handlers[event]!)
  }

  stop(): void {
    for (const event of EVENTS) unsubscribe(`tracing:mortar.request:${event}`, this.handlers[event]!)
  }

  private note(event: (typeof EVENTS)[number], message: ObservedRequest): void {
    this.seen.push(`${event} ${message.method} ${message.route} ${message.status}`)
    if (event === 'start') this.requests.push(message)
    if (event === 'asyncEnd') this.emit('end', message)
  }
}

describe('The channel tracing:mortar.request', () => {
  let observer: Observer
  afterEach(() => observer.stop())

  throughBothAdapters((open) => {
    it('publishes one object for all events of a request, with its route from the start', async () => {
      const app = createApp().use(createRouter().get('/notes/:id', async () => ({ ok: true })))
      const { fetch } = await open(app)
      await fetch('/notes/0')
      observer = new Observer()
      const ended = once(observer, 'end') as Promise<[ObservedRequest]>
      const response = await fetch('/notes/7?access_token=x')
      const [request] = await ended
      expect(response.headers.get('x-request-id')).equal(request.requestId)
      expect(observer.seen).deep.equal([
        'start GET /notes/:id undefined',
        'end GET /notes/:id undefined',
        'asyncStart GET /notes/:id 200',
        'asyncEnd GET /notes/:id 200',
      ])
      expect(observer.requests).deep.equal([request])
      expect(request.error).equal(undefined)
      expect(request.req.url).equal('/notes/7?access_token=x')
    })

    it('may set headers, of which a refusal has none that belong to a body', async () => {
      const { fetch } = await open(createApp().use(createRouter().get('/notes', () => [])))
      await fetch('/notes')
      observer = new Observer()
      const setHeaders = (message: unknown): void => {
        const { res } = message as { readonly res: ServerResponse }
        res.setHeader('Cache-Control', 'public, max-age=3600').setHeader('X-Own', 'yes')
        res.setHeader('Content-Encoding', 'gzip')
      }
      subscribe('tracing:mortar.request:start', setHeaders)
      const { status, headers } = await fetch('/nowhere')
      unsubscribe('tracing:mortar.request:start', setHeaders)
      const kept = ['cache-control', 'x-own', 'content-encoding'].map((name) => headers.get(name))
      expect([status, ...kept]).deep.equal([404, null, 'yes', null])
    })

    it('covers requests without a route: 404, 405, a malformed path and OPTIONS', async () => {
      const app = createApp().use(createRouter().get('/notes', () => []))
      const { fetch } = await open(app)
      await fetch('/notes')
      observer = new Observer()
      for (const [path, method] of [
        ['/nothing', 'GET'],
        ['/notes', 'DELETE'],
        ['/%zz', 'GET'],
        ['/notes', 'OPTIONS'],
        ['/notes', 'HEAD'],
        ['/notes', 'PROPFIND'],
      ] as const) {
        const ended = once(observer, 'end')
        await fetch(path, { method })
        await ended
      }
      expect(observer.seen.filter((line) => line.startsWith('asyncEnd'))).deep.equal([
        'asyncEnd GET undefined 404',
        'asyncEnd DELETE undefined 405',
        'asyncEnd GET undefined 400',
        'asyncEnd OPTIONS undefined 204',
        'asyncEnd HEAD /notes 200',
        'asyncEnd PROPFIND undefined 405',
      ])
    })

    it('publishes the error of a 5xx once, and no error that the client caused', async () => {
      const boom = new Error('boom')
      const away = new HttpError(503, 'away', { code: 'database_away' })
      // Its rendering fails too.
      const odd = new HttpError(503, 'odd', { headers: { 'not a name': '1' } })
      const app = createApp({ environment: 'test' }).use(
        createRouter()
          .get('/sync', () => {
            throw boom
          })
          .get('/late', async () => {
            await Promise.resolve()
            throw boom
          })
          .get('/away', () => {
            throw away
          })
          .get('/odd', () => {
            throw odd
          })
          .get('/bad', () => {
            throw new BadRequest('no')
          }),
      )
      const { fetch } = await open(app)
      await fetch('/bad')
      observer = new Observer()
      for (const path of ['/sync', '/late', '/away', '/odd', '/bad']) {
        const ended = once(observer, 'end')
        await fetch(path)
        await ended
      }
      expect(observer.seen.filter((line) => line.startsWith('error'))).deep.equal([
        'error GET /sync undefined',
        'error GET /late undefined',
        'error GET /away undefined',
        'error GET /odd undefined',
      ])
      expect(observer.requests.map(({ error, status }) => [error, status])).deep.equal([
        [boom, 500],
        [boom, 500],
        [away, 503],
        [odd, 500],
        [undefined, 400],
      ])
    })

    it('reports 499 when the client leaves before the response', async () => {
      const entered = new EventEmitter()
      const app = createApp().use(
        createRouter().get('/hangs', (ctx) => {
          entered.emit('in')
          return once(ctx.signal, 'abort').then(() => 'late')
        }),
      )
      const { url } = await open(app)
      observer = new Observer()
      const [inHandler, ended] = [once(entered, 'in'), once(observer, 'end')]
      const socket = connect(Number(new URL(url).port), '127.0.0.1')
      socket.write('GET /hangs HTTP/1.1\r\nHost: a\r\n\r\n')
      await inHandler
      socket.destroy()
      await ended
      expect(observer.seen.at(-1)).equal('asyncEnd GET /hangs 499')
    })

    it('ends a request when its stream has ended, and reports a stream that fails', async () => {
      const app = createApp().use(
        createRouter()
          .get('/stream', () => Readable.from(['a', 'b']))
          .get('/cut', () =>
            Readable.from(
              (function* pieces() {
                yield Buffer.alloc(70_000)
                throw new Error('cut')
              })(),
            ),
          ),
      )
      const { fetch } = await open(app)
      observer = new Observer()
      for (const path of ['/stream', '/cut']) {
        const ended = once(observer, 'end')
        await fetch(path)
          .then((response) => response.text())
          .catch(() => undefined)
        await ended
      }
      expect(observer.requests.map(({ status, error }) => [status, (error as Error)?.message])).deep.equal([
        [200, undefined],
        [200, 'cut'],
      ])
    })

    it('runs middleware, guard, body parsing, services and handlers inside a bound store', async () => {
      const storage = new AsyncLocalStorage<string>()
      const seen: unknown[] = []
      const note = (): unknown => seen.push(storage.getStore())
      const app = createApp()
        .provide({ noted: singleton(() => ({ note })) })
        .use(async (_ctx, next) => {
          note()
          await next()
          note()
        })
        .use(
          createRouter().post('/notes', { body: object({ title: string().required() }) }, async (ctx) => {
            note()
            await new Promise((resolve) => {
              setTimeout(resolve, 1)
            })
            ;(ctx.services as { noted: { note(): void } }).noted.note()
            return null
          }),
        )
      const { fetch } = await open(app)
      observer = new Observer()
      observer.channel.start.bindStore(storage, ({ route, requestId }) => `${route} ${requestId}`)
      const ended = once(observer, 'end')
      await fetch('/notes', {
        method: 'POST',
        body: JSON.stringify({ title: 'a' }),
        headers: { 'Content-Type': 'application/json', 'X-Request-Id': 'r1' },
      })
      await ended
      observer.channel.start.unbindStore(storage)
      expect(seen).deep.equal(Array.from({ length: 4 }, () => '/notes r1'))
    })

    it('puts the fields that a subscriber of start sets into the log lines of the request', async () => {
      const lines: object[] = []
      const logger = loggerInto(lines)
      const app = createApp({ logger, logRequests: false }).use(
        createRouter().get('/fails', (ctx) => {
          ctx.log.info('inside')
          throw new Error('boom')
        }),
      )
      const { fetch } = await open(app)
      observer = new Observer()
      const mark = (message: unknown) => {
        ;(message as ObservedRequest).logFields = { trace_id: 't1' }
      }
      subscribe('tracing:mortar.request:start', mark)
      await fetch('/fails')
      unsubscribe('tracing:mortar.request:start', mark)
      expect(lines.filter((line) => (line as { trace_id?: string }).trace_id === 't1')).length(2)
    })
  })

  it('covers requests of app.inject()', async () => {
    observer = new Observer()
    const app = createApp().use(createRouter().get('/notes', () => []))
    const ended = once(observer, 'end')
    await app.inject('/notes')
    await ended
    expect(observer.seen.at(-1)).equal('asyncEnd GET /notes 200')
    await app.close()
  })

  it('does not break a request when a subscriber throws', async () => {
    observer = new Observer()
    const fault = new Error('subscriber')
    const fails = (): never => {
      throw fault
    }
    // Node reports it as an uncaught exception, which mocha would report as well.
    const others = process.listeners('uncaughtException')
    process.removeAllListeners('uncaughtException')
    const caught: unknown[] = []
    process.on('uncaughtException', (error) => caught.push(error))
    for (const event of EVENTS) subscribe(`tracing:mortar.request:${event}`, fails)
    try {
      const app = createApp().use(createRouter().get('/notes', async () => ['a']))
      const ended = once(observer, 'end')
      const response = await app.inject('/notes')
      await ended
      expect(response.json()).deep.equal(['a'])
      await app.close()
      expect(caught).deep.equal([fault, fault, fault, fault])
    } finally {
      for (const event of EVENTS) unsubscribe(`tracing:mortar.request:${event}`, fails)
      process.removeAllListeners('uncaughtException')
      for (const listener of others) process.on('uncaughtException', listener)
    }
  })
})

function loggerInto(lines: object[], bindings: object = {}): Logger {
  const write = (fields: object | string) => void lines.push({ ...bindings, ...(fields as object) })
  const logger = { debug: write, info: write, warn: write, error: write }
  return { ...logger, child: (more: object) => loggerInto(lines, { ...bindings, ...more }) }
}
