import { text } from 'node:stream/consumers'
import { setImmediate as nextTurn } from 'node:timers/promises'
import { runInNewContext } from 'node:vm'
import { Router, type RouterMiddleware } from '@koa/router'
import { expect } from 'chai'
import type { Middleware } from 'koa'
import { koaBody } from 'koa-body'
import { createApp, createRouter, fromKoa, fromKoaRouter, type App, type Logger } from 'mortar'
import { ignore } from '../../src/support/ignore.ts'
import { throughBothAdapters } from '../support/adapters.ts'

class Forbidden extends Error {
  readonly status = 403
  readonly expose = true
  readonly headers = { 'X-Reason': 'role' }
}

const foreign = (): unknown =>
  runInNewContext(`
    class HttpError extends Error { status = 409; statusCode = 409; expose = true }
    new HttpError('of another realm')`)

/** Reads the body as co-body does, on which koa-bodyparser, @koa/bodyparser and koa-body are built. */
const parse: Middleware = async (ctx, next) => {
  const chunks: Buffer[] = []
  for await (const chunk of ctx.req) chunks.push(chunk as Buffer)
  const sent = Buffer.concat(chunks).toString()
  try {
    Object.assign(ctx.request, { body: JSON.parse(sent) as unknown })
  } catch (error) {
    throw Object.assign(error as Error, { status: 400, body: sent })
  }
  await next()
}

const pass: Middleware = (_ctx, next) => next()
const lateRethrow: Middleware = async (_ctx, next) => {
  try {
    await next()
  } catch (error) {
    await nextTurn()
    throw error
  }
}

/** Values that Koa code may throw, with the status of the response. */
const THROWN: [name: string, make: () => unknown, status: number][] = [
  ['an own class with a 4xx and expose', () => new Forbidden('no'), 403],
  [
    'a statusCode with expose',
    () => Object.assign(new Error('gone'), { statusCode: 410, expose: true }),
    410,
  ],
  ['an http-error of another realm', foreign, 409],
  ['a 4xx of a driver', () => Object.assign(new Error('driver'), { status: 404, statusCode: 404 }), 500],
  ['a hidden 4xx', () => Object.assign(new Error('driver'), { status: 404, expose: false }), 500],
  ['a 5xx with expose', () => Object.assign(new Error('upstream'), { status: 502, expose: true }), 500],
  ['a status that is text', () => Object.assign(new Error('x'), { status: '404', expose: true }), 500],
  ['an object without the class of an error', () => ({ status: 404, expose: true }), 500],
  ['a string', () => 'text', 500],
  ['undefined', () => undefined, 500],
]

type Mount = (app: App, thrower: RouterMiddleware & Middleware) => App

const MOUNTS: Record<string, Mount> = {
  'in fromKoa': (app, thrower) => app.use(fromKoa(thrower as Middleware)),
  'in fromKoa behind other middleware': (app, thrower) =>
    app
      .use(fromKoa(pass))
      .use((_ctx, next) => next())
      .use(fromKoa(lateRethrow))
      .use(fromKoa(thrower as Middleware)),
  'in an adopted router': (app, thrower) =>
    app.use(fromKoaRouter(new Router().get('/', thrower).post('/', thrower))),
  'in an adopted router behind fromKoa': (app, thrower) =>
    app.use(fromKoa(pass)).use(fromKoaRouter(new Router().use(pass as never).get('/', thrower))),
  'after next()': (app, thrower) =>
    app
      .use(
        fromKoa(async (ctx, next) => {
          await next()
          await thrower(ctx as never, next)
        }),
      )
      .use(createRouter().get('/', () => 'fine')),
}

describe('An error of Koa code', () => {
  throughBothAdapters((open) => {
    it('with a hidden message says whose fault it is', async () => {
      const router = createRouter().get('/:status', ({ koa, params: { status } }) =>
        koa.throw(Number(status), 'secret', { expose: false }),
      )
      const { fetch } = await open(createApp({ logger: false, environment: 'production' }).use(router))
      for (const status of [400, 499, 500, 501, 599]) {
        const { detail } = (await (await fetch(`/${status}`)).json()) as { detail: string }
        expect(detail, String(status)).to.match(status < 500 ? /^The request cannot/ : /^The server failed/)
      }
    })

    const app = () => createApp({ logger: false })

    for (const [where, mount] of Object.entries(MOUNTS))
      it(`has the status that Koa gives it ${where}, whether it is thrown or rejected`, async () => {
        for (const [name, make, status] of THROWN)
          for (const thrower of [
            () => {
              throw make()
            },
            async () => {
              await Promise.resolve()
              throw make()
            },
          ]) {
            const { fetch, close } = await open(mount(app(), thrower as never))
            const response = await fetch('/')
            expect(response.status, name).to.equal(status)
            expect(response.headers.get('content-type')).to.equal('application/problem+json')
            await close()
          }
      })

    it('shows its message if it may, and keeps its headers', async () => {
      const { fetch } = await open(
        app().use(fromKoaRouter(new Router().get('/', () => Promise.reject(new Forbidden('Ask an owner.'))))),
      )
      const response = await fetch('/')
      expect(response.headers.get('x-reason')).to.equal('role')
      expect(await response.json()).to.include({ status: 403, code: 'forbidden', detail: 'Ask an owner.' })
    })

    it('keeps its headers on a 500 too, but none of another body or connection', async () => {
      const notKept = {
        'content-length': '3',
        'Content-Type': 'text/css',
        'Content-Encoding': 'gzip',
        'Content-Disposition': 'attachment',
        'Transfer-Encoding': 'x',
        Connection: 'x',
        'Keep-Alive': 'timeout=77',
      }
      const headers = { Vary: 'Origin', 'Set-Cookie': 'a=1', ...notKept }
      const { fetch } = await open(
        app().use(
          fromKoa((ctx) => {
            ctx.cookies.set('early', '1')
            throw Object.assign(new Error('failed'), { headers })
          }),
        ),
      )
      const response = await fetch('/')
      expect(response.status).to.equal(500)
      expect(response.headers.get('vary')).to.equal('Origin')
      // koa-session removes a cookie that it cannot read by the headers of its error.
      expect(response.headers.getSetCookie()).to.deep.equal(['a=1'])
      for (const [name, value] of Object.entries(notKept))
        expect(response.headers.get(name), name).to.not.equal(value)
      expect(await response.json()).to.have.property('status', 500)
    })

    it('is not one that Koa middleware only passes on from a native handler', async () => {
      const native = createRouter().get('/', () => {
        throw Object.assign(new Forbidden('no'), { statusCode: 403 })
      })
      const { fetch } = await open(app().use(fromKoa(lateRethrow)).use(fromKoa(pass)).use(native))
      const response = await fetch('/')
      expect(response.status).to.equal(500)
      expect(response.headers.get('x-reason')).to.equal(null)
    })

    describe('while it reads the body', () => {
      const echo = new Router().post('/', parse as never, (ctx) => {
        ctx.body = (ctx.request as { body?: unknown }).body
      })
      const driver = createRouter().post('/', () => 1)
      const parsers: Record<string, () => App> = {
        'by fromKoa': () => app().use(fromKoa(pass)).use(fromKoa(parse)).use(driver),
        'in a router': () => app().use(fromKoaRouter(echo)),
      }
      for (const [name, make] of Object.entries(parsers))
        it(`is a 400 for malformed JSON ${name}`, async () => {
          const { fetch } = await open(make())
          const response = await fetch('/', { method: 'POST', body: '{bad' })
          expect(response.status).to.equal(400)
          expect(await response.json()).to.include({ code: 'bad_request' })
          expect((await fetch('/', { method: 'POST', body: '{}' })).status).to.equal(200)
        })

      it('is a 400 for a broken form, and 413 for a large one', async () => {
        const { fetch } = await open(
          app()
            .use(fromKoa(koaBody({ multipart: true, formidable: { maxFieldsSize: 100 } })))
            .use(driver),
        )
        const send = (body: string) =>
          fetch('/', {
            method: 'POST',
            headers: { 'Content-Type': 'multipart/form-data; boundary=b' },
            body,
          })
        const field = (value: string) =>
          `--b\r\nContent-Disposition: form-data; name="a"\r\n\r\n${value}\r\n--b--\r\n`
        expect((await send('--b\r\nno header')).status).to.equal(400)
        expect((await send(field('x'.repeat(200)))).status).to.equal(413)
        expect((await send(field('x'))).status).to.equal(200)
      })

      it('keeps a driver error a 500 that is thrown when the body has been read', async () => {
        const read: Middleware = async (ctx, next) => {
          await text(ctx.req)
          await next()
        }
        const fails = () => {
          throw Object.assign(new Error('driver'), { status: 409 })
        }
        const apps = [
          app().use(fromKoa(parse)).use(fromKoa(fails)),
          app().use(fromKoaRouter(new Router().post('/', parse as never, fails))),
          app().use(fromKoa(fails)).use(fromKoa(parse)),
          // It keeps what it has read for itself.
          app().use(fromKoa(read)).use(fromKoa(fails)),
        ]
        for (const each of apps) {
          const { fetch } = await open(each)
          expect((await fetch('/', { method: 'POST', body: '{}' })).status).to.equal(500)
        }
      })
    })

    it('that is unexpected sends no cookie, and a deliberate one does', async () => {
      const { fetch } = await open(
        app()
          .use((ctx, next) => {
            ctx.cookies.set('early', '1')
            ctx.set('X-Kept', 'yes')
            return next()
          })
          .use(
            fromKoaRouter(
              new Router()
                .get('/boom', (ctx) => {
                  ctx.cookies.set('session', '1')
                  throw new Error('boom')
                })
                .get('/refused', (ctx) => {
                  ctx.cookies.set('session', '1')
                  ctx.throw(403)
                }),
            ),
          ),
      )
      const boom = await fetch('/boom')
      expect([boom.status, boom.headers.get('x-kept'), boom.headers.getSetCookie()]).to.deep.equal([
        500,
        'yes',
        [],
      ])
      expect((await fetch('/refused')).headers.getSetCookie()).to.have.length(2)
    })
  })
})

describe('Koa middleware that sends HTML error pages', () => {
  throughBothAdapters((open) => {
    it('has the status of every error, and leaves other clients their problem documents', async () => {
      const logged: unknown[] = []
      const page: Middleware = async (ctx, next) => {
        try {
          await next()
          if (ctx.status === 404 && !ctx.body) ctx.throw(404)
        } catch (error) {
          if (ctx.accepts('json', 'html') !== 'html') throw error
          const { status } = ctx
          if (status >= 500) logged.push(error)
          ctx.body = `<h1>${status}</h1>`
          ctx.status = status
        }
      }
      const routes = createRouter()
        .get('/boom', () => {
          throw new Error('boom')
        })
        .get('/busy', (ctx) => ctx.koa.throw(429))
        .get('/away', (ctx) => ctx.koa.throw(503, 'Come back later.', { expose: true }))
      const { fetch } = await open(createApp({ logger: false }).use(fromKoa(page)).use(routes))
      for (const [path, status] of [
        ['/boom', 500],
        ['/busy', 429],
        ['/away', 503],
        ['/nowhere', 404],
      ] as const) {
        const html = await fetch(path, { headers: { accept: 'text/html' } })
        expect([html.status, await html.text()]).to.deep.equal([status, `<h1>${status}</h1>`])
        const json = await fetch(path, { headers: { accept: 'application/json' } })
        expect(await json.json()).to.have.property('status', status)
      }
      expect(logged.map(String)).to.deep.equal(['Error: boom', 'ServiceUnavailableError: Come back later.'])
    })
  })
})

describe('A method that no route of a path has', () => {
  throughBothAdapters((open) => {
    const withRoutes = (middleware: Middleware) =>
      createApp({ logger: false })
        .use(fromKoa(pass))
        .use(fromKoa(middleware))
        .use(fromKoaRouter(new Router().get('/koa', pass as never)))
        .use(createRouter().get('/native', () => 1))

    it('sets the status 405 and `Allow` after next(), a 404 as in Koa for an adopted router, and is not an error', async () => {
      const seen: unknown[] = []
      const app = withRoutes(async (ctx, next) => {
        await next()
        seen.push([ctx.status, ctx.body, ctx.response.get('Allow')])
      })
      const errors: unknown[] = []
      app.koa.on('error', (error) => errors.push(error))
      const { fetch } = await open(app)
      for (const path of ['/koa', '/native']) {
        const response = await fetch(path, { method: 'PUT' })
        expect([response.status, response.headers.get('allow')]).to.deep.equal([405, 'GET, HEAD, OPTIONS'])
        expect(await response.json()).to.have.property('code', 'method_not_allowed')
      }
      expect(seen).to.deep.equal([
        [404, undefined, undefined],
        [405, undefined, 'GET, HEAD, OPTIONS'],
      ])
      expect(errors).to.deep.equal([])
    })

    it('is what middleware makes of it', async () => {
      const { fetch } = await open(
        withRoutes(async (ctx, next) => {
          await next()
          if (ctx.status === 405 && ctx.query['as'] === 'page') ctx.body = `not ${ctx.method}`
          else if (ctx.status === 405) ctx.status = 404
        }),
      )
      const page = await fetch('/native?as=page', { method: 'PUT' })
      expect([page.status, await page.text()]).to.deep.equal([405, 'not PUT'])
      const hidden = await fetch('/native', { method: 'PUT' })
      expect([hidden.status, await hidden.text()]).to.deep.equal([404, 'Not Found'])
    })
  })
})

describe('An error of Koa middleware in front of the pipeline that Koa cannot render', () => {
  const throwing = (): never => {
    throw new Error('of a getter')
  }
  const thrown: Record<string, () => unknown> = {
    'a frozen error': () => Object.freeze(new Error('frozen')),
    'a proxy that refuses changes': () => new Proxy(new Error('kept'), { set: throwing }),
    'a proxy that refuses everything': () => new Proxy({}, { get: throwing, getPrototypeOf: throwing }),
    'an error with a status that cannot be read': () =>
      Object.defineProperty(new Error('status'), 'status', { get: throwing }),
    'an error with a header that is not one': () =>
      Object.assign(new Error('header'), { headers: { 'not a name': 'x' } }),
    'a bigint': () => 5n,
    'a symbol': () => Symbol('thrown'),
    null: () => null,
    undefined: () => undefined,
  }

  throughBothAdapters((open) => {
    for (const [name, make] of Object.entries(thrown))
      it(`is a 500 with a line in the log: ${name}`, async () => {
        const lines: unknown[] = []
        const error = (...line: readonly unknown[]): void => void lines.push(line)
        const logger: Logger = { debug: ignore, info: ignore, warn: ignore, error, child: () => logger }
        const app = createApp({ logger, logRequests: false }).use(createRouter().get('/', () => 'inner'))
        app.koa.use(async ({ path }, next) => {
          if (path === '/') await next()
          throw make()
        })
        const { fetch } = await open(app)
        for (const path of ['/', '/before']) {
          const response = await fetch(path, { signal: AbortSignal.timeout(120_000) })
          expect([path, response.status]).to.deep.equal([path, 500])
          expect(lines.splice(0), path).not.to.deep.equal([])
        }
      })
  })
})
