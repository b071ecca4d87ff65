import { once } from 'node:events'
import { expect } from 'chai'
import { Readable } from 'node:stream'
import { request, type IncomingMessage } from 'node:http'
import { connect } from 'node:net'
import { mock } from 'node:test'
import { setTimeout as wait } from 'node:timers/promises'
import {
  createApp,
  createRouter,
  env,
  StartupError,
  type AppOptions,
  type Context,
  type Logger,
} from 'mortar'
import { UNREADABLE } from '../support/unreadable-error.ts'
import { deferred } from '../support/deferred.ts'
import { throughBothAdapters } from '../support/adapters.ts'

const never = (): Promise<never> => new Promise<never>(() => {})

function recordWarnings() {
  const warnings: string[] = []
  const ignore = (): void => undefined
  const warn = (line: string): void => void warnings.push(line)
  const logger = {
    debug: ignore,
    info: ignore,
    warn,
    error: ignore,
    child: () => logger,
  } as unknown as Logger
  return { logger, warnings }
}

describe('The time limit of handlers', () => {
  throughBothAdapters((open) => {
    it('responds with 503 handler_timeout and Retry-After, and aborts ctx.signal with that error', async () => {
      let reason: unknown
      const app = createApp({ handlerTimeout: 0.02 }).use(
        createRouter().get('/', async (ctx) => {
          ctx.signal.addEventListener('abort', () => (reason = ctx.signal.reason))
          await never()
        }),
      )
      const served = await open(app)
      const response = await served.fetch('/')
      expect(response.status).to.equal(503)
      expect(response.headers.get('retry-after')).to.equal('1')
      expect(await response.json()).to.include({ code: 'handler_timeout' })
      expect(reason).to.include({ status: 503, code: 'handler_timeout' })
    })

    it('does not cut a stream that takes longer', async () => {
      async function* slow() {
        yield 'a'
        await wait(60)
        yield 'b'
      }
      const app = createApp({ handlerTimeout: 0.02 }).use(
        createRouter().get('/', () => Readable.from(slow())),
      )
      expect(await (await (await open(app)).fetch('/')).text()).to.equal('ab')
    })

    it('does not stop a handler that already began to write the response', async () => {
      const app = createApp({ handlerTimeout: 0.02 }).use(
        createRouter().get('/', async (ctx) => {
          ctx.koa.respond = false
          ctx.koa.res.write('a')
          await wait(60)
          ctx.koa.res.end('b')
        }),
      )
      expect(await (await (await open(app)).fetch('/')).text()).to.equal('ab')
    })
  })

  it('does not count the time of a body that is still arriving', async () => {
    // A pause of a loaded machine must stay below the limit, and the whole body must take longer.
    const limit = 500
    const app = createApp({ handlerTimeout: limit / 1000 }).use(
      createRouter().post('/', { consumes: [] }, async (ctx) => {
        let size = 0
        for await (const chunk of ctx.koa.req) size += (chunk as Buffer).length
        return { size }
      }),
    )
    const { port } = await app.listen(0)
    const req = request({
      port,
      host: '127.0.0.1',
      method: 'POST',
      headers: { 'Transfer-Encoding': 'chunked' },
    })
    const status = new Promise((resolve) => {
      req.on('response', (res) => resolve(res.resume().statusCode))
    })
    const begin = performance.now()
    while (performance.now() - begin < 2 * limit) {
      req.write('x')
      await wait(20)
    }
    req.end()
    expect(await status).to.equal(200)
    await app.close()
  })

  it('counts while its connection sends further requests', async () => {
    const app = createApp({ handlerTimeout: 0.05, logger: false }).use(createRouter().get('/', never))
    const { port } = await app.listen(0, '127.0.0.1')
    const socket = connect(port, '127.0.0.1')
    const request_ = 'GET / HTTP/1.1\r\nHost: x\r\n'
    socket.write(`${request_}\r\n${request_}`)
    const received: string[] = []
    socket.on('data', (chunk) => received.push(String(chunk)))
    for (let bytes = 0; bytes < 300 && received.length === 0; bytes++) {
      socket.write(`X-${bytes}: a\r\n`)
      await wait(5)
    }
    expect(received.join('')).to.match(/^HTTP\/1\.1 503 /)
    socket.destroy()
    await app.close()
  })

  it('counts the time after a body that stops arriving', async () => {
    const arrival = deferred()
    const app = createApp({ handlerTimeout: 0.05, logger: false }).use(
      createRouter().post('/', { consumes: [] }, async (ctx) => {
        arrival.resolve()
        await once(ctx.koa.req.resume(), 'end')
      }),
    )
    const { port } = await app.listen(0)
    const headers = { 'Transfer-Encoding': 'chunked' }
    const req = request({ port, host: '127.0.0.1', method: 'POST', headers })
    const response = once(req, 'response') as Promise<[IncomingMessage]>
    req.flushHeaders()
    await arrival.promise
    req.write('x')
    expect((await response)[0].statusCode).to.equal(503)
    req.on('error', () => undefined).destroy()
    await app.close()
  })

  it('is the timeout of the route if it has one; 0 means no timeout', async () => {
    const router = createRouter()
      .get('/short', { handlerTimeout: '10ms' }, never)
      .get('/free', { handlerTimeout: 0 }, async () => {
        await wait(30)
        return 'done'
      })
    const app = createApp({ handlerTimeout: 0.01 }).use(router)
    expect((await app.inject('/short')).statusCode).to.equal(503)
    expect((await app.inject('/free')).body).to.equal('done')
    await app.close()
  })

  it('closes a stream that is returned too late, and logs an error that is thrown too late', async () => {
    const late = Readable.from(['x'])
    const lines: unknown[] = []
    const log = (...line: unknown[]) => void lines.push(line)
    const logger = { debug: log, info: log, warn: log, error: log, child: () => logger }
    const gate = deferred()
    const router = createRouter()
      .get('/stream', async () => {
        await gate.promise
        return late
      })
      .get('/error', async () => {
        await gate.promise
        throw new Error('too late')
      })
      .get('/unreadable', async () => {
        await gate.promise
        throw UNREADABLE
      })
      // The response has reported this reason.
      .get('/reason', async ({ signal }) => {
        await once(signal, 'abort')
        throw signal.reason
      })
    const app = createApp({ handlerTimeout: 0.01, logger, logRequests: false }).use(router)
    await Promise.all(['/stream', '/error', '/unreadable', '/reason'].map((url) => app.inject(url)))
    gate.resolve()
    const isLogged = (text: string) => JSON.stringify(lines).includes(text)
    while (!late.destroyed || !isLogged('too late') || !isLogged('cannot be read')) await wait(1)
    await app.close()
    expect(JSON.stringify(lines)).to.include('Further failures since the last line: handler_timeout 3.')
  })

  it('leaves no timer behind for a handler that has ended', async () => {
    const timers = () => process.getActiveResourcesInfo().filter((name) => name === 'Timeout').length
    const router = createRouter()
      .get('/value', () => Promise.resolve('ok'))
      .get('/error', () => Promise.reject(new Error('broken')))
    const app = createApp({ environment: 'test', logger: false, handlerTimeout: 3600 }).use(router)
    const statuses = async (): Promise<number[]> =>
      Promise.all(['/value', '/error'].map(async (url) => (await app.inject({ url })).statusCode))
    expect(await statuses()).to.eql([200, 500])
    const before = timers()
    for (let time = 0; time < 5; time++) await statuses()
    expect(timers()).to.be.at.most(before)
    await app.close()
  })

  it('leaves no timer behind for a handler that has ended after the body had taken longer', async () => {
    const LIMIT = 3_600_000
    const arrival = deferred()
    const waiting = new Set<object>()
    const judges: (() => void)[] = []
    const { setTimeout: begin, clearTimeout: end } = globalThis
    // Time passes only by the call of a judge.
    mock.method(globalThis, 'setTimeout', (act: () => void, ms: number) => {
      if (ms !== LIMIT) return begin(act, ms)
      const timer = {}
      waiting.add(timer)
      judges.push(() => {
        waiting.delete(timer)
        act()
      })
      return timer
    })
    mock.method(globalThis, 'clearTimeout', (timer: never) => {
      if (!waiting.delete(timer)) end(timer)
    })
    const app = createApp({ handlerTimeout: '1h', logger: false }).use(
      createRouter().post('/', { consumes: [] }, async (ctx) => {
        ctx.koa.req.once('data', () => arrival.resolve())
        await once(ctx.koa.req, 'end')
        return 'read'
      }),
    )
    const { port } = await app.listen(0, '127.0.0.1')
    const headers = { 'Transfer-Encoding': 'chunked' }
    const req = request({ port, host: '127.0.0.1', method: 'POST', headers })
    const response = once(req, 'response') as Promise<[IncomingMessage]>
    req.flushHeaders()
    while (judges.length === 0) await wait(1)
    req.write('x')
    await arrival.promise
    judges[0]!()
    expect(waiting.size).to.equal(1)
    req.end()
    expect((await response)[0].resume().statusCode).to.equal(200)
    expect(waiting.size).to.equal(0)
    mock.reset()
    await app.close()
  })

  it('aborts a ctx.signal that is first read after the timeout', async () => {
    const [responded, seen] = [deferred(), deferred()]
    let aborted: boolean | undefined
    const handler = async (ctx: Context) => {
      await responded.promise
      ;({ aborted } = ctx.signal)
      seen.resolve()
    }
    const app = createApp({ handlerTimeout: 0.005 }).use(createRouter().get('/', handler))
    await app.inject('/')
    responded.resolve()
    await seen.promise
    expect(aborted).to.equal(true)
    await app.close()
  })

  it('rejects an option that is not a duration', () => {
    const options = { handlerTimeout: 'soon' } satisfies AppOptions
    expect(() => createApp(options)).to.throw(StartupError, 'handlerTimeout')
  })

  for (const key of ['handlerTimeout', 'drainDelay', 'shutdownTimeout'] as const)
    it(`warns of ${key}: 5000, which means milliseconds elsewhere, and not of the same with a unit`, () => {
      const { logger, warnings } = recordWarnings()
      for (const value of ['5000s', 3600, env.from({ T: '1h' }).duration('T')])
        createApp({ [key]: value, logger })
      expect(warnings).to.deep.equal([])
      createApp({ [key]: 5000, logger })
      expect(warnings).to.deep.equal([
        `${key} is 5000 seconds, which is more than an hour. For milliseconds write '5000ms'. ` +
          "To keep the seconds without this warning, write '5000s'.",
      ])
    })

  it('can be more than an hour from a variable', () => {
    const handlerTimeout = env.from({ HT: '2h' }).duration('HT')
    expect(() => createApp({ handlerTimeout, logger: false })).to.not.throw()
  })

  it('of a route and of the server is warned of in the same way', async () => {
    const { logger, warnings } = recordWarnings()
    const app = createApp({ logger, server: { keepAliveTimeout: 65_000 } }).use(
      createRouter().get('/', { handlerTimeout: 5000 }, () => 'ok'),
    )
    await app.listen(0, '127.0.0.1')
    await app.inject('/')
    await app.close()
    expect(warnings.map((warning) => warning.split(',')[0])).to.have.members([
      'handlerTimeout of GET / (router /) is 5000 seconds',
      'keepAliveTimeout is 65000 seconds',
    ])
  })

  it('rejects a route whose timeout is not a duration', async () => {
    const app = createApp().use(createRouter().get('/', { handlerTimeout: '30d' }, never))
    const error: unknown = await app.ready().catch((thrown: unknown) => thrown)
    expect(error).to.include({ code: 'MORTAR_ROUTE_VALUE' })
  })
})

describe('ctx.signal and event streams of an application that closes', () => {
  throughBothAdapters((open) => {
    it('aborts with 503, so that a handler that waits for it ends', async () => {
      const arrival = deferred()
      const app = createApp({ shutdownTimeout: 5 }).use(
        createRouter().get('/', async ({ signal }) => {
          arrival.resolve()
          await once(signal, 'abort')
          signal.throwIfAborted()
        }),
      )
      const served = await open(app)
      const pending = served.fetch('/')
      await arrival.promise
      const closing = app.close()
      const response = await pending
      expect(response.status).to.equal(503)
      expect(response.headers.get('connection')).to.equal('close')
      await closing
    })

    it('ends a stream of server-sent events that ignores the signal, without cutting it', async () => {
      async function* events() {
        yield 'data: 1\n\n'
        await never()
      }
      // Were the stream not ended, its time would be longer than that of the test.
      const app = createApp({ shutdownTimeout: '1h' }).use(
        createRouter().get('/', (ctx) => {
          ctx.type = 'text/event-stream'
          return events()
        }),
      )
      const served = await open(app)
      const response = await served.fetch('/')
      const closing = app.close()
      expect(await response.text()).to.equal('data: 1\n\n')
      await closing
    })
  })

  it('is already aborted if a handler first reads it while the application closes', async () => {
    const gate = deferred()
    const arrival = deferred()
    const app = createApp().use(
      createRouter().get('/', async (ctx) => {
        arrival.resolve()
        await gate.promise
        return { aborted: ctx.signal.aborted }
      }),
    )
    const pending = app.inject('/')
    await arrival.promise
    const closing = app.close()
    gate.resolve()
    expect((await pending).json()).to.deep.equal({ aborted: true })
    await closing
  })
})
