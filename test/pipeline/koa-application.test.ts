import { once } from 'node:events'
import { createReadStream } from 'node:fs'
import { connect } from 'node:net'
import { runInNewContext } from 'node:vm'
import { expect } from 'chai'
import { Router } from '@koa/router'
import Koa, { type Context, type Middleware } from 'koa'
import mount from 'koa-mount'
import { createApp, createRouter, fromKoa, NotFound, type App, type Logger } from 'mortar'
import { throughBothAdapters } from '../support/adapters.ts'
import { bearer, tokens } from '../support/tokens-brick.ts'

const routes = () =>
  createRouter()
    .get('/', () => ({ hello: 'world' }))
    .get('/boom', () => {
      throw new Error('boom')
    })
    .get('/missing', () => {
      throw new NotFound('Not here.')
    })
    .get('/forbidden', (ctx) => ctx.koa.throw(403, 'not you'))
    .get('/wrapped', (ctx) => ctx.koa.throw(401, new Error('the cause')))
    .get('/asserted', (ctx) => ctx.koa.assert(false, 402, 'pay first'))
    .get('/driver', () => {
      throw Object.assign(new Error('driver'), { status: 404, statusCode: 404, expose: true })
    })
    .post('/', (ctx) => ctx.body ?? 'nothing')

describe('app.koa', () => {
  throughBothAdapters((open) => {
    describe('event error', () => {
      const heard = (app: App) => {
        const events: [string, boolean][] = []
        app.koa.on('error', (error: Error, ctx: Context) =>
          events.push([error.message, ctx.path !== undefined]),
        )
        return events
      }

      it('is emitted once for each error in handlers, Koa middleware and other middleware', async () => {
        const lines: string[] = []
        const app = createApp({ logger: writingTo(lines) })
          .use(async (ctx, next) => {
            if (ctx.path === '/mortar') throw new Error('in mortar')
            return next()
          })
          .use(
            fromKoa(async (ctx, next) => {
              if (ctx.path === '/koa') throw new Error('in koa')
              await next()
            }),
          )
          .use(routes())
        const events = heard(app)
        const { fetch } = await open(app)
        for (const path of ['/boom', '/koa', '/mortar']) expect((await fetch(path)).status).to.equal(500)
        expect(events).to.deep.equal([
          ['boom', true],
          ['in koa', true],
          ['in mortar', true],
        ])
        expect(lines).to.have.length(3)
      })

      it('is logged for middleware in front, also after an error of a handler', async () => {
        const lines: string[] = []
        const app = createApp({ logger: writingTo(lines) }).use(routes())
        heard(app)
        app.koa.use((ctx, next) => {
          if (ctx.path === '/front') throw new Error('in front')
          return next()
        })
        const { fetch } = await open(app)
        for (const path of ['/boom', '/front']) expect((await fetch(path)).status).to.equal(500)
        expect(lines.filter((line) => line.includes('in front'))).to.have.length(1)
      })

      it('is logged once for a stream of middleware in front, and not for an error that its client reads', async () => {
        const lines: string[] = []
        const app = createApp({ logger: writingTo(lines), logRequests: false })
        app.koa.use(async (ctx) => {
          if (ctx.path === '/deliberate') ctx.throw(400, 'not so')
          if (ctx.path === '/missing') throw Object.assign(new Error('no such file'), { status: 404 })
          ctx.body = createReadStream('/does/not/exist')
        })
        const { fetch } = await open(app)
        expect((await fetch('/deliberate')).status).to.equal(400)
        expect((await fetch('/missing')).status).to.equal(404)
        expect(lines).to.deep.equal([])
        await fetch('/stream').catch(() => undefined)
        expect(lines.map((line) => line.includes('ENOENT'))).to.deep.equal([true])
      })

      it('is emitted for deliberate errors with their status, and not for paths without a route', async () => {
        const app = createApp({ logger: false }).use(routes())
        const statuses: unknown[] = []
        app.koa.on('error', (error: { status: number; expose: boolean }) => {
          statuses.push([error.status, error.expose])
        })
        const { fetch } = await open(app)
        for (const path of ['/missing', '/forbidden', '/nowhere']) await fetch(path)
        expect(statuses).to.deep.equal([
          [404, true],
          [403, true],
        ])
      })

      it('is emitted as in Koa for thrown strings, objects and errors of another realm', async () => {
        const foreign: unknown = Object.assign(runInNewContext("new Error('foreign')") as object, {
          status: 418,
        })
        const thrown: unknown[] = ['text', { key: 'value' }, foreign]
        const app = createApp({ logger: false }).use(
          fromKoa((ctx) => {
            throw thrown[Number(ctx.query['index'])]
          }),
        )
        const events: unknown[] = []
        app.koa.on('error', (error) => events.push(error))
        const { fetch } = await open(app)
        for (const index of thrown.keys()) expect((await fetch(`/?index=${index}`)).status).to.equal(500)
        expect(events[2]).to.equal(foreign)
        expect(events.slice(0, 2).map((error) => (error as Error).message)).to.deep.equal([
          'non-error thrown: "text"',
          'non-error thrown: {"key":"value"}',
        ])
      })

      it('is emitted for a connection that breaks before the response', async () => {
        const app = createApp({ logger: false }).use(
          fromKoa(({ socket }) => {
            socket.destroy(new Error('broken'))
          }),
        )
        const event = once(app.koa, 'error')
        const { fetch } = await open(app)
        await fetch('/').catch(() => undefined)
        expect(((await event) as [Error])[0].message).to.equal('broken')
      })

      it('does not change the response when a listener throws or the thrown value is not an Error', async () => {
        const router = createRouter().get('/', () => {
          // oxlint-disable-next-line typescript/only-throw-error -- an application may do so
          throw 'text'
        })
        const app = createApp({ logger: false }).use(router)
        app.koa.on('error', (error: Error) => {
          expect(error).to.be.instanceOf(Error)
          throw new Error('in the listener')
        })
        const { fetch } = await open(app)
        expect((await fetch('/')).status).to.equal(500)
      })
    })

    describe('middleware of app.koa.use', () => {
      it('catches the errors of handlers, as error reporters do, and may respond to them', async () => {
        const captured: unknown[] = []
        const app = createApp({ logger: false }).use(routes())
        app.koa.use(async (ctx, next) => {
          try {
            await next()
          } catch (error) {
            captured.push((error as Error).message)
            if (ctx.path === '/missing') {
              ctx.status = 404
              ctx.body = 'a page'
            } else throw error
          }
        })
        const { fetch } = await open(app)
        const boom = await fetch('/boom')
        expect([boom.status, boom.headers.get('content-type')]).to.deep.equal([
          500,
          'application/problem+json',
        ])
        expect(await (await fetch('/missing')).text()).to.equal('a page')
        expect(captured).to.deep.equal(['boom', 'Not here.'])
      })

      it('finds values in ctx.body, and an empty 404 that it may fill', async () => {
        const seen: unknown[] = []
        const app = createApp({ logger: false }).use(routes())
        app.koa.use(async (ctx, next) => {
          await next()
          seen.push([ctx.status, ctx.body])
          if (ctx.path === '/page') ctx.body = 'the page'
        })
        const { fetch } = await open(app)
        await fetch('/')
        expect(await (await fetch('/page')).text()).to.equal('the page')
        const missed = await fetch('/nowhere')
        expect([missed.status, missed.headers.get('content-type')]).to.deep.equal([
          404,
          'application/problem+json',
        ])
        expect(seen).to.deep.equal([
          [200, { hello: 'world' }],
          [404, undefined],
          [404, undefined],
        ])
      })

      it("responds to the methods that @koa/router's routes do not have", async () => {
        const router = new Router()
        router.post('/legacy', (ctx) => void (ctx.body = 'posted'))
        const app = createApp({ logger: false }).use(routes())
        app.koa.use(router.routes()).use(router.allowedMethods())
        const { fetch } = await open(app)
        const refused = await fetch('/legacy')
        expect([refused.status, refused.headers.get('allow')]).to.deep.equal([405, 'POST'])
        expect(await (await fetch('/legacy', { method: 'POST' })).text()).to.equal('posted')
      })

      it('is called through the method of the prototype, which instrumentation wraps', async () => {
        const { use } = Koa.prototype
        const patched: unknown[] = []
        Koa.prototype.use = function instrumented(this: Koa, middleware: Middleware) {
          patched.push(middleware)
          return use.call(this, middleware)
        } as Koa['use']
        try {
          const app = createApp().use(routes())
          const one: Middleware = (_ctx, next) => next()
          app.koa.use(one)
          expect(patched).to.deep.equal([one])
          expect(() => app.koa.use('text' as never)).to.throw(TypeError)
          const { fetch } = await open(app)
          expect((await fetch('/')).status).to.equal(200)
        } finally {
          Koa.prototype.use = use
        }
      })
    })

    it('keeps the status of errors of Koa, with and without Koa middleware in front', async () => {
      for (const front of [[], [fromKoa((_ctx, next) => next())]]) {
        const app = createApp({ logger: false })
        for (const one of front) app.use(one)
        const { fetch } = await open(app.use(routes()))
        for (const [path, status, detail] of [
          ['/forbidden', 403, 'not you'],
          ['/wrapped', 401, 'the cause'],
          ['/asserted', 402, 'pay first'],
        ] as const)
          expect(await (await fetch(path)).json(), path).to.include({ status, detail })
        expect((await fetch('/driver')).status).to.equal(500)
      }
    })

    it('gives Koa middleware the signed-in user and the ctx of Mortar in ctx.state', async () => {
      const router = new Router()
      router.get('/legacy', (ctx) => {
        const { user, mortar } = ctx.state as {
          user?: { id: string }
          mortar: { route: string; user: unknown }
        }
        ctx.body = { id: user?.id ?? null, same: mortar.user === (user ?? null), state: { ...ctx.state } }
      })
      const { fetch } = await open(createApp().use(tokens()).use(fromKoa(router)).use(routes()))
      expect(await (await fetch('/legacy')).json()).to.deep.equal({ id: null, same: true, state: {} })
      const signedIn = (await (await fetch('/legacy', { headers: bearer('ada') })).json()) as {
        id: string
        same: boolean
      }
      expect([signedIn.id, signedIn.same]).to.deep.equal(['ada', true])
    })

    it('trusts only the forwarding headers of trusted proxies', async () => {
      const headers = {
        'x-forwarded-for': '6.6.6.6, 1.1.1.1',
        'x-forwarded-host': 'public.example',
      }
      const router = createRouter().get('/', ({ ip, koa }) => [
        ip === koa.ip,
        koa.ip,
        koa.ips,
        koa.protocol,
        koa.secure,
        koa.host === 'public.example',
      ])
      const ask = async (trustProxy: readonly string[] | false, proto = 'https') => {
        const { fetch } = await open(createApp({ trustProxy }).use(router))
        return (await fetch('/', { headers: { ...headers, 'x-forwarded-proto': proto } })).json()
      }
      for (const proto of ['https', 'HTTPS'])
        expect(await ask(['127.0.0.0/8'], proto)).to.deep.equal([
          true,
          '1.1.1.1',
          ['1.1.1.1'],
          'https',
          true,
          true,
        ])
      expect(await ask(['10.0.0.0/8'])).to.deep.equal([true, '127.0.0.1', [], 'http', false, false])
      expect(await ask(false)).to.deep.equal([true, '127.0.0.1', [], 'http', false, false])
    })

    it('returns the current context when it was created with asyncLocalStorage', async () => {
      const app = createApp({ koa: { asyncLocalStorage: true } })
      const router = createRouter().get('/', async (ctx) => {
        await new Promise(setImmediate)
        return [app.koa.currentContext === ctx.koa, app.koa.currentContext?.path]
      })
      const { fetch } = await open(app.use(router))
      expect(await (await fetch('/')).json()).to.deep.equal([true, '/'])
    })

    it('handles a request that follows a 205', async () => {
      const router = createRouter()
        .get('/reset', (ctx) => void (ctx.status = 205))
        .get('/next', () => 'next')
      const { url } = await open(createApp().use(router))
      const socket = connect(Number(new URL(url).port), '127.0.0.1')
      socket.write(
        'GET /reset HTTP/1.1\r\nHost: x\r\n\r\nGET /next HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n',
      )
      let received = ''
      for await (const chunk of socket) received += String(chunk)
      expect(received.match(/HTTP\/1\.1 \d+/g)).to.deep.equal(['HTTP/1.1 205', 'HTTP/1.1 200'])
    })

    it('does not send the reason phrase of another status', async () => {
      const app = createApp({ logger: false }).use(
        fromKoa(async (ctx, next) => {
          ctx.status = 200
          await next()
        }),
      )
      const { fetch } = await open(app.use(routes()))
      const response = await fetch('/boom')
      expect([response.status, response.statusText]).to.deep.equal([500, 'Internal Server Error'])
    })
  })

  it('runs middleware that is added while it serves', async () => {
    const app = createApp({ logger: false }).use(routes())
    const order: string[] = []
    const { url } = await app.listen(0, '127.0.0.1')
    for (const name of ['a', 'b']) {
      app.koa.use((_ctx, next) => {
        order.push(name)
        return next()
      })
      await fetch(`${url}/boom`)
    }
    expect(order.join()).to.equal('a,a,b')
    await app.close()
  })

  it('notifies the error listeners of the application in which it is mounted', async () => {
    const inner = createApp({ logger: false }).use(routes())
    const outer = new Koa()
    const heard: string[] = []
    outer.on('error', (error: Error) => heard.push(error.message))
    outer.use(mount('/api', inner.koa))
    const server = outer.listen(0, '127.0.0.1')
    await once(server, 'listening')
    const { port } = server.address() as { port: number }
    expect((await fetch(`http://127.0.0.1:${port}/api/boom`)).status).to.equal(500)
    expect(heard).to.deep.equal(['boom'])
    server.closeAllConnections()
    server.close()
    await once(server, 'close')
    // The error is in the log already. Koa's own listener would also write it to standard error.
    outer.removeAllListeners('error')
    let printed = 0
    Object.assign(outer, { onerror: () => void printed++ })
    const silent = outer.listen(0, '127.0.0.1')
    await once(silent, 'listening')
    const { port: other } = silent.address() as { port: number }
    expect((await fetch(`http://127.0.0.1:${other}/api/boom`)).status).to.equal(500)
    expect(printed).to.equal(0)
    silent.closeAllConnections()
    silent.close()
    await once(silent, 'close')
    await inner.close()
  })
})

/** A logger whose error lines can be counted. */
function writingTo(lines: string[]): Logger {
  const none = (): void => undefined
  const error = (...parts: unknown[]): void => void lines.push(JSON.stringify(parts))
  const logger: Logger = { debug: none, info: none, warn: none, error, child: () => logger }
  return logger
}
