import { expect } from 'chai'
import {
  createApp,
  createRouter,
  defineBrick,
  NotFound,
  StartupError,
  type Handler,
  type Logger,
  type Middleware,
} from 'mortar'
import { number, object } from 'yup'
import { throughBothAdapters } from '../support/adapters.ts'
import { bearer, tokens } from '../support/tokens-brick.ts'

describe('Middleware', () => {
  throughBothAdapters((open) => {
    const log: string[] = []
    beforeEach(() => void log.splice(0))
    const logged =
      (name: string): Middleware =>
      async (_ctx, next) => {
        log.push(`${name} in`)
        const value = await next()
        log.push(`${name} out`)
        return value
      }

    it('runs outermost first, the application’s around a router’s around a child’s', async () => {
      const child = createRouter({ prefix: '/c' })
        .use(logged('child'))
        .get('/', () => void log.push('handler'))
      const parent = createRouter({ prefix: '/p' })
        .use(logged('parent'))
        .use(child)
        .get('/', () => 'parent only')
      const { fetch } = await open(createApp().use(logged('app')).use(parent))
      await fetch('/p/c')
      expect(log).to.deep.equal([
        'app in',
        'parent in',
        'child in',
        'handler',
        'child out',
        'parent out',
        'app out',
      ])
      log.splice(0)
      await fetch('/p')
      expect(log).to.not.include('child in')
    })

    it('of a brick runs around that of the application, also if the brick is registered later', async () => {
      const brick = defineBrick({ name: 'meter', middleware: () => [logged('brick'), logged('second')] })
      const app = createApp().use(logged('app')).use(brick)
      const { fetch } = await open(app.use(createRouter().get('/', () => void log.push('handler'))))
      for (const path of ['/', '/none']) {
        log.splice(0)
        await fetch(path)
        expect(log.filter((line) => line.endsWith(' in'))).to.deep.equal(['brick in', 'second in', 'app in'])
      }
    })

    it('of the application wraps 404, 405 and unreadable paths; middleware of a router wraps only its routes', async () => {
      const router = createRouter({ prefix: '/r' })
        .use(logged('router'))
        .get('/', () => 1)
      const { fetch } = await open(createApp().use(logged('app')).use(router))
      for (const [path, method, status] of [
        ['/none', 'GET', 404],
        ['/r', 'PUT', 405],
        ['/%zz', 'GET', 400],
        ['/r/deeper', 'GET', 404],
      ] as const) {
        log.splice(0)
        expect((await fetch(path, { method })).status).to.equal(status)
        expect(log, path).to.include('app in').and.not.include('router in')
      }
    })

    it('wraps the 405 and the OPTIONS of one path, in any order', async () => {
      const { fetch } = await open(
        createApp()
          .use(logged('app'))
          .use(createRouter().get('/r', () => 1)),
      )
      for (const [method, status] of [
        ['PUT', 405],
        ['OPTIONS', 204],
        ['PUT', 405],
      ] as const)
        // prettier-ignore
        expect((await fetch('/r', { method })).status, method).to.equal(status)
    })

    it('that does not call next() responds with its own value', async () => {
      const { fetch } = await open(
        createApp()
          .use((ctx) => {
            ctx.status = 202
            return { instead: true }
          })
          .use(createRouter().get('/', () => void log.push('handler'))),
      )
      const response = await fetch('/')
      expect([response.status, await response.json()]).to.deep.equal([202, { instead: true }])
      expect(log).to.deep.equal([])
    })

    it('gets the handler’s value from next() and may replace it', async () => {
      const { fetch } = await open(
        createApp()
          .use(async (_ctx, next) => ({ wrapped: await next() }))
          .use(createRouter().get('/', () => ({ n: 1 }))),
      )
      expect(await (await fetch('/')).json()).to.deep.equal({ wrapped: { n: 1 } })
    })

    it('keeps the value when it returns nothing', async () => {
      const waiting: Middleware = async (_ctx, next) => void (await next())
      const { fetch } = await open(
        createApp()
          .use(waiting)
          .use(createRouter().get('/', async () => ({ n: 1 }))),
      )
      expect(await (await fetch('/')).json()).to.deep.equal({ n: 1 })
    })

    it('replaces the value by null, and skips the handler with it, without a warning', async () => {
      for (const isAsync of [false, true]) {
        const seen: unknown[] = []
        const lines: string[] = []
        const empty: Middleware = isAsync ? async () => null : () => null
        const outer: Middleware = async (_ctx, next) => void seen.push(await next())
        const app = createApp({ logger: writingTo(lines), logRequests: false })
          .use(outer)
          .use(empty)
        const { fetch } = await open(app.use(createRouter().get('/', () => 'never')))
        expect((await fetch('/')).status).to.equal(204)
        expect([seen, lines], String(isAsync)).to.deep.equal([[null], []])
      }
    })

    describe('that does not await or return next()', () => {
      const lazy: Middleware = (_ctx, next) => void next()
      const handlers: Record<string, () => unknown> = {
        'a handler that waits': async () => ({ n: 1 }),
        'a synchronous handler': () => ({ n: 1 }),
        'a handler that throws': () => {
          throw new NotFound('gone')
        },
      }
      for (const [name, handler] of Object.entries(handlers))
        it(`is an error that names it, around ${name}`, async () => {
          const { fetch } = await open(
            createApp({ logger: false }).use(lazy).use(createRouter().get('/', handler)),
          )
          const problem = (await (await fetch('/')).json()) as { status: number; detail: string }
          expect(problem.status).to.equal(500)
          expect(problem.detail).to.contain('next() was called in lazy').and.contain('return next()')
        })

      it('is logged in production, and the response is not lost', async () => {
        for (const [name, status] of [
          ['a handler that waits', 200],
          ['a synchronous handler', 200],
          ['a handler that throws', 404],
        ] as const) {
          const lines: string[] = []
          const { fetch } = await open(
            createApp({ environment: 'production', logger: writingTo(lines) })
              .use(lazy)
              .use(createRouter().get('/', handlers[name]!)),
          )
          expect((await fetch('/')).status, name).to.equal(status)
          expect(lines.join()).to.contain('next() was called in lazy')
        }
      })
    })

    it('reads the final status from ctx.status, also in finally', async () => {
      const seen: number[] = []
      const metrics: Middleware = async (ctx, next) => {
        try {
          return await next()
        } finally {
          seen.push(ctx.status)
        }
      }
      const { fetch } = await open(
        createApp({ logger: false })
          .use(metrics)
          .use(
            createRouter()
              .get('/value', () => ({ n: 1 }))
              .get('/nothing', () => undefined)
              .get('/created', (ctx) => {
                ctx.status = 201
                return {}
              })
              .get('/missing', (ctx) => {
                ctx.status = 201
                throw new NotFound('gone')
              })
              .get('/boom', () => {
                throw new Error('boom')
              })
              .get('/koa', (ctx) => ctx.koa.throw(418))
              .get('/web', () => new Response('made', { status: 202 }))
              .get('/invalid', { query: object({ n: number().required() }) }, () => 1),
          ),
      )
      const paths = ['value', 'nothing', 'created', 'missing', 'boom', 'koa', 'web', 'invalid', 'nowhere']
      const sent = []
      for (const path of paths) sent.push((await fetch(`/${path}`)).status)
      expect(sent).to.deep.equal([200, 204, 201, 404, 500, 418, 202, 422, 404])
      expect(seen).to.deep.equal(sent)
    })

    it('reads from ctx.status what it has set itself after next()', async () => {
      const { fetch } = await open(
        createApp({ logger: false })
          .use(async (ctx, next) => {
            const before = await next().then(
              () => ctx.status,
              () => ctx.status,
            )
            ctx.status = 202
            return [before, ctx.status]
          })
          .use(
            createRouter()
              .get('/value', () => 'ok')
              .get('/missing', () => {
                throw new NotFound('gone')
              }),
          ),
      )
      expect(await (await fetch('/value')).json()).to.deep.equal([200, 202])
      expect(await (await fetch('/missing')).json()).to.deep.equal([404, 202])
    })

    it('may catch the errors of the layers inside it', async () => {
      const rescue: Middleware = async (ctx, next) => {
        try {
          return await next()
        } catch (error) {
          ctx.status = 200
          return { caught: (error as Error).message }
        }
      }
      const { fetch } = await open(
        createApp()
          .use(rescue)
          .use(
            createRouter().get('/', () => {
              throw new Error('inside')
            }),
          ),
      )
      expect(await (await fetch('/')).json()).to.deep.equal({ caught: 'inside' })
    })

    it('may forget the errors of the layers inside it: the response is empty', async () => {
      const forget: Middleware = async (_ctx, next) => void (await next().catch(() => undefined))
      const failures: Record<string, Handler> = {
        immediately: () => {
          throw new Error('inside')
        },
        later: async () => {
          await Promise.resolve()
          throw new Error('inside')
        },
        'as a refusal': () => {
          throw new NotFound('No such thing.')
        },
      }
      const router = createRouter()
      for (const [index, fails] of Object.values(failures).entries()) router.get(`/${index}`, fails)
      const { fetch } = await open(createApp({ logger: false }).use(forget).use(router))
      for (const [index, name] of Object.keys(failures).entries()) {
        const response = await fetch(`/${index}`)
        expect([response.status, await response.text()], name).to.deep.equal([204, ''])
      }
      expect((await fetch('/nowhere')).status).to.equal(204)
    })

    it('that calls next() twice is named in the error', async () => {
      const twice: Middleware = async function callsTwice(_ctx, next) {
        await next()
        return next()
      }
      const { fetch } = await open(
        createApp()
          .use(twice)
          .use(createRouter().get('/', () => 1)),
      )
      const response = await fetch('/')
      expect(response.status).to.equal(500)
      expect(((await response.json()) as { detail: string }).detail).to.equal(
        'next() was called twice in callsTwice.',
      )
    })

    it('sees the user already, and runs before the guard refuses', async () => {
      const seen: unknown[] = []
      const spy: Middleware = (ctx, next) => {
        seen.push(ctx.user?.id ?? null)
        return next()
      }
      const { fetch } = await open(
        createApp()
          .use(tokens())
          .use(spy)
          .use(createRouter().get('/', { auth: true }, () => 1)),
      )
      expect((await fetch('/', { headers: bearer('ada') })).status).to.equal(200)
      expect((await fetch('/')).status).to.equal(401)
      expect(seen).to.deep.equal(['ada', null])
    })
  })
})

describe('A router', () => {
  throughBothAdapters((open) => {
    it('can be mounted several times, with joined prefixes, all tags and the nearest auth', async () => {
      const child = createRouter({ prefix: '/child', tags: ['child'], auth: false })
        .get('/open', () => 1)
        .get('/closed', { auth: true, tags: ['route'] }, () => 1)
      const parent = createRouter({ prefix: '/parent', tags: ['parent'], auth: true })
        .use(child)
        .get('/', () => 1)
      const again = createRouter({ prefix: '/again' }).use(parent)
      const app = createApp().use(tokens()).use(parent).use(again)
      const { fetch } = await open(app)
      const status = async (path: string) => (await fetch(path)).status
      expect(await status('/parent')).to.equal(401)
      expect(await status('/parent/child/open')).to.equal(200)
      expect(await status('/parent/child/closed')).to.equal(401)
      expect(await status('/again/parent/child/open')).to.equal(200)
      const closed = app.routes.find(({ path }) => path === '/parent/child/closed')
      expect(closed?.definition.tags).to.deep.equal(['parent', 'child', 'route'])
    })

    it('works immediately when it is mounted after the start', async () => {
      const app = createApp().use(createRouter().get('/users/:id', (ctx) => `id ${ctx.params['id']}`))
      const { fetch } = await open(app)
      await app.ready()
      expect(await (await fetch('/users/me')).text()).to.equal('id me')
      app.use(createRouter().get('/users/me', () => 'me'))
      expect(await (await fetch('/users/me')).text()).to.equal('me')
      app.use((_ctx, next) => next().then((value) => `late ${String(value)}`))
      expect(await (await fetch('/users/me')).text()).to.equal('late me')
    })

    it('changes nothing when it is mounted after the start and one of its routes is refused', async () => {
      const app = createApp({ logger: false }).use(createRouter().get('/users/:id', () => 'user'))
      const { fetch } = await open(app)
      await app.ready()
      for (const definition of [{ auth: true }, { limit: 'search' }] as const) {
        const router = createRouter()
          .get('/late', () => 'late')
          .get('/users/me', definition as object, () => 'me')
        expect(() => app.use(router), Object.keys(definition).join()).to.throw(StartupError)
      }
      expect((await fetch('/late')).status).to.equal(404)
      expect(await (await fetch('/users/me')).text()).to.equal('user')
    })
  })
})

/** A logger whose warnings and errors can be read. */
function writingTo(lines: string[]): Logger {
  const none = (): void => undefined
  const error = (...parts: unknown[]): void => void lines.push(JSON.stringify(parts))
  const logger: Logger = { debug: none, info: none, warn: error, error, child: () => logger }
  return logger
}
