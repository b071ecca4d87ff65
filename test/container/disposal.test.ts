import { EventEmitter, once } from 'node:events'
import { connect } from 'node:net'
import { mock } from 'node:test'
import { setImmediate as nextTurn } from 'node:timers/promises'
import { asClass, asFunction, asValue } from 'awilix'
import { expect } from 'chai'
import type Koa from 'koa'
import {
  createApp,
  createRouter,
  defineBrick,
  scoped,
  singleton,
  type AnyRegistration,
  type Context,
} from 'mortar'
import { createRequestEnds } from '../../src/app/serve/request-ends.ts'

/** Both ways to register one thing with a disposer: the framework's and awilix's. */
const WAYS = {
  native: {
    singleton: (make: (services: never) => object, dispose: (it: object) => unknown) =>
      singleton(make, { dispose }) as AnyRegistration,
    scoped: (make: (services: never) => object, dispose: (it: object) => unknown) =>
      scoped(make, { dispose }) as AnyRegistration,
  },
  awilix: {
    singleton: (make: (services: never) => object, dispose: (it: object) => unknown) =>
      asFunction(make as () => object)
        .singleton()
        .disposer(dispose) as AnyRegistration,
    scoped: (make: (services: never) => object, dispose: (it: object) => unknown) =>
      asFunction(make as () => object)
        .scoped()
        .disposer(dispose) as AnyRegistration,
  },
} as const

/** A promise and the function that settles it, to delay a handler. */
function gate(): { readonly open: () => void; readonly passed: Promise<void> } {
  let open!: () => void
  const passed = new Promise<void>((resolve) => {
    open = resolve
  })
  return { open, passed }
}

for (const [way, make] of Object.entries(WAYS))
  describe(`Disposers of ${way} registrations`, () => {
    /** Services `a` and `b`; `b` requires `a`. The log has a line when each is made and disposed of. */
    const pair = (lifetime: 'singleton' | 'scoped', log: string[]): Record<string, AnyRegistration> => ({
      b: make[lifetime](
        // Begun first and complete last: `a` ends after it all the same.
        (services: { readonly a: object }) => ({ n: log.push('make b'), a: services.a }),
        async () => {
          await Promise.resolve()
          log.push('dispose b')
        },
      ),
      a: make[lifetime](
        () => ({ n: log.push('make a') }),
        () => void log.push('dispose a'),
      ),
      never: make.scoped(
        () => ({ n: log.push('make never') }),
        () => void log.push('dispose never'),
      ),
    })
    const PAIR = ['make b', 'make a', 'dispose b', 'dispose a']

    it('run at close, after the bricks have stopped, in reverse order of creation', async () => {
      const log: string[] = []
      const brick = defineBrick({ name: 'x', stop: () => void log.push('stop x') })
      const app = createApp({ logger: false }).use(brick).provide(pair('singleton', log))
      await app.ready()
      await Promise.all([app.close(), app.close()])
      expect(log).to.deep.equal(['make b', 'make a', 'stop x', 'dispose b', 'dispose a'])
    })

    it('run when a start fails, for what was made by then', async () => {
      const log: string[] = []
      const app = createApp({ logger: false })
        .provide(pair('singleton', log))
        .use(defineBrick({ name: 'x', start: () => Promise.reject(new Error('down')) }))
      const error: unknown = await app.ready().catch((thrown: unknown) => thrown)
      expect(String(error)).to.contain('down')
      expect(log).to.deep.equal(PAIR)
      await app.close()
      expect(log).to.deep.equal(PAIR)
    })

    it('do not delay each other: a disposer that fails or never ends is logged', async () => {
      const log: string[] = []
      const lines: unknown[][] = []
      const logger = {
        ...Object.fromEntries(['debug', 'info', 'warn'].map((level) => [level, () => undefined])),
        error: (...line: unknown[]) => void lines.push(line),
        child: () => logger,
      }
      const app = createApp({ logger: logger as never, shutdownTimeout: 0.02 }).provide({
        first: make.singleton(
          () => ({}),
          () => void log.push('first'),
        ),
        stuck: make.singleton(
          () => ({}),
          () => new Promise(() => {}),
        ),
        broken: make.singleton(
          () => ({}),
          () => {
            throw new Error('no end')
          },
        ),
      })
      await app.ready()
      await app.close()
      expect(log).to.deep.equal(['first'])
      expect(lines.map((line) => line[1])).to.deep.equal([
        "The service 'broken' could not be disposed of",
        "The service 'stuck' could not be disposed of",
      ])
    })

    const ENDS: Readonly<Record<string, () => unknown>> = {
      'a response': () => 'fine',
      'an error': () => {
        throw new Error('broken')
      },
      'an error later': async () => {
        await Promise.resolve()
        throw new Error('broken')
      },
    }
    for (const [end, handler] of Object.entries(ENDS))
      for (const adapter of ['listen()', 'inject()', 'app.koa'] as const)
        it(`of scoped services run once after ${end}, through ${adapter}`, async () => {
          const log: string[] = []
          const app = createApp({ logger: false })
            .provide(pair('scoped', log))
            .use(
              createRouter().get('/', (ctx) => {
                const first = ctx.services['b']
                if (first !== ctx.services['b']) throw new Error('made twice')
                return handler()
              }),
            )
          if (adapter === 'inject()') await app.inject('/')
          else if (adapter === 'listen()')
            await fetch((await app.listen(0, '127.0.0.1')).url).then((r) => r.text())
          else await throughKoa(app.koa)
          // The disposers do not wait for close().
          for (let turn = 0; turn < 100 && log.length < PAIR.length; turn++) await nextTurn()
          expect(log).to.deep.equal(PAIR)
          await app.close()
          expect(log).to.deep.equal(PAIR)
        })

    it('of scoped services wait for the end of a streamed response', async () => {
      const log: string[] = []
      const more = gate()
      const app = createApp({ logger: false })
        .provide(pair('scoped', log))
        .use(
          createRouter().get('/', async function* stream(ctx: Context) {
            yield String(Boolean(ctx.services['b']))
            await more.passed
            log.push('streamed')
          } as never),
        )
      const { url } = await app.listen(0, '127.0.0.1')
      const response = await fetch(url)
      const reader = response.body!.getReader()
      await reader.read()
      more.open()
      while (!(await reader.read()).done);
      await app.close()
      expect(log).to.deep.equal(['make b', 'make a', 'streamed', 'dispose b', 'dispose a'])
    })

    it('of scoped services wait for the handler when the client has left', async () => {
      const log: string[] = []
      const started = gate()
      const aborted = gate()
      // A deadline that outlasts the test.
      const app = createApp({ logger: false, shutdownTimeout: '1h' })
        .provide(pair('scoped', log))
        .use(
          createRouter().get('/', async (ctx) => {
            log.push(typeof ctx.services['b'])
            ctx.signal.addEventListener('abort', aborted.open)
            started.open()
            await aborted.passed
            await Promise.resolve()
            log.push('handled')
          }),
        )
      const { port } = await app.listen(0, '127.0.0.1')
      const socket = connect(port, '127.0.0.1')
      socket.write('GET / HTTP/1.1\r\nHost: x\r\n\r\n')
      await started.passed
      socket.destroy()
      await aborted.passed
      await app.close()
      expect(log).to.deep.equal(['make b', 'make a', 'object', 'handled', 'dispose b', 'dispose a'])
    })

    it('of a handler that never settles run at close', async () => {
      const log: string[] = []
      const started = gate()
      const app = createApp({ logger: false, shutdownTimeout: 0.02 })
        .provide(pair('scoped', log))
        .use(
          createRouter().get('/', (ctx) => {
            log.push(typeof ctx.services['b'])
            started.open()
            return new Promise(() => {})
          }),
        )
      const { url } = await app.listen(0, '127.0.0.1')
      const lost = fetch(url).catch(() => 'lost')
      await started.passed
      await app.close()
      expect(await lost).to.equal('lost')
      expect(log).to.deep.equal(['make b', 'make a', 'object', 'dispose b', 'dispose a'])
    })

    it('run for a service that is requested after its request ended, which is rejected', async () => {
      const log: string[] = []
      const ended = gate()
      const late: Promise<unknown>[] = []
      const app = createApp({ logger: false })
        .provide(pair('scoped', log))
        .use(
          createRouter().get('/', (ctx) => {
            for (let times = 0; times < 2; times++)
              late.push(ended.passed.then(() => ctx.services['a']).catch((thrown: unknown) => thrown))
            return 'now'
          }),
        )
      await app.inject('/')
      ended.open()
      for (const error of await Promise.all(late))
        expect(String(error)).to.contain("'a' was requested after its request had ended")
      await app.close()
      expect(log).to.deep.equal(['make a', 'dispose a', 'make a', 'dispose a'])
    })

    it('of scoped services end before the bricks stop and the services of the application end', async () => {
      const log: string[] = []
      const disposal = gate()
      const begun = gate()
      const app = createApp({ logger: false })
        .use(defineBrick({ name: 'pool', stop: () => void log.push('pool closed') }))
        .provide({
          tx: make.scoped(
            () => ({}),
            async () => {
              begun.open()
              await disposal.passed
              log.push('transaction ended')
            },
          ),
        })
        .use(createRouter().get('/', (ctx) => Object.keys((ctx.services as { tx: object }).tx)))
      await app.inject('/')
      await begun.passed
      const closing = app.close()
      await new Promise(setImmediate)
      disposal.open()
      await closing
      expect(log).to.deep.equal(['transaction ended', 'pool closed'])
    })

    it('of scoped services run before close() resolves, and never for a service that was not used', async () => {
      const log: string[] = []
      const app = createApp({ logger: false })
        .provide(pair('scoped', log))
        .use(createRouter().get('/', () => 'nothing'))
      await app.inject('/')
      await app.close()
      expect(log).to.deep.equal([])
    })
  })

describe('Disposers', () => {
  it('of a request whose handler does not settle run when the time of the stop is over, not earlier', async () => {
    mock.timers.enable({ apis: ['setTimeout'] })
    const ends = createRequestEnds()
    let disposed = 0
    const [req, res] = [{ socket: new EventEmitter() }, new EventEmitter()]
    ends.watch({ internal: { req, res, isSettled: false } } as never, async () => void disposed++)
    const drained = ends.drain(30)
    mock.timers.tick(29_999)
    expect(disposed).to.equal(0)
    mock.timers.tick(1)
    await drained
    expect(disposed).to.equal(1)
    mock.timers.reset()
  })

  it('of classes, and of services that a request registers on its scope, run when the request ends', async () => {
    const log: string[] = []
    class Connection {
      end(): void {
        log.push('end')
      }
    }
    const app = createApp({ logger: false })
      .provide({
        connection: asClass(Connection)
          .scoped()
          .disposer((it) => it.end()),
        url: asValue('x'),
      })
      .use(
        createRouter().get('/', ({ scope, services }) => {
          scope.register({
            own: asFunction(() => ({}))
              .scoped()
              .disposer(() => void log.push('own')),
          })
          return [typeof services.connection, typeof services['own'], services.url]
        }),
      )
    expect((await app.inject('/')).json()).to.deep.equal(['object', 'object', 'x'])
    await app.close()
    expect(log).to.deep.equal(['own', 'end'])
  })

  it('run once when app.container.dispose() was called before close()', async () => {
    const log: string[] = []
    const app = createApp({ logger: false }).provide({
      a: singleton(() => ({}), { dispose: () => void log.push('a') }),
      plain: singleton(() => ({})),
      b: asFunction(() => ({}))
        .singleton()
        .disposer(() => void log.push('b')),
    })
    await app.ready()
    const { plain } = app.container.cradle
    await app.container.dispose()
    expect(log).to.deep.equal(['b', 'a'])
    expect(app.container.cradle['plain']).to.not.equal(plain)
    await app.close()
    expect(log).to.deep.equal(['b', 'a'])
  })

  it('run for a pipelined request whose connection ends before its turn', async () => {
    const log: string[] = []
    const both = gate()
    let arrived = 0
    const app = createApp({ logger: false })
      .provide({ it: scoped(() => ({}), { dispose: () => void log.push('disposed') }) })
      .use(
        createRouter().get('/', async (ctx) => {
          const { it } = ctx.services
          arrived += 1
          if (arrived === 2) both.open()
          await both.passed
          await once(ctx.koa.req.socket, 'close')
          return typeof it
        }),
      )
    const { port } = await app.listen(0, '127.0.0.1')
    const socket = connect(port, '127.0.0.1')
    socket.write('GET / HTTP/1.1\r\nHost: x\r\n\r\nGET / HTTP/1.1\r\nHost: x\r\n\r\n')
    await both.passed
    socket.destroy()
    await app.close()
    expect(log).to.deep.equal(['disposed', 'disposed'])
  })
})

async function throughKoa(koa: Koa): Promise<void> {
  const server = koa.listen(0, '127.0.0.1')
  await once(server, 'listening')
  const { port } = server.address() as { port: number }
  await fetch(`http://127.0.0.1:${port}/`).then((response) => response.text())
  server.close()
}
