import { expect } from 'chai'
import { createApp, createRouter, fromKoa, NotFound, Unauthorized, type App, type Logger } from 'mortar'
import { database } from '@mortar/database'
import { number, object, string } from 'yup'
import { ignore } from '../../src/support/ignore.ts'
import { startupErrorOf } from '../support/startup-error-of.ts'

/** The same functions without types, as JavaScript calls them. */
const untyped = (given: unknown) => given as Record<string, (...args: unknown[]) => never>

const quiet = (environment: 'development' | 'production' = 'development') =>
  createApp({ environment, logger: false, signals: false })
const get = async (app: App<object, object>) => {
  const response = await app.inject({ method: 'GET', url: '/' })
  return { status: response.statusCode, detail: response.json().detail as string }
}

describe('An argument that nothing would read', () => {
  const middleware = () => undefined

  it('is refused by use(), because the second middleware would not run', async () => {
    for (const [of, target] of [
      ['app.use', quiet()],
      ['use() of router /', createRouter()],
    ] as const) {
      const error = await startupErrorOf(() => untyped(target)['use']!(middleware, middleware))
      expect(error.code).to.equal('MORTAR_USE')
      expect(error.found).to.equal(`${of} was given 2 arguments, and would ignore all but the first.`)
      expect(error.remedy).to.match(/^Call it once for each/)
    }
  })

  it('is refused by use() of a router if it is that router, or contains it', async () => {
    const [outer, middle, inner] = ['/outer', '/middle', '/inner'].map((prefix) => createRouter({ prefix }))
    outer!.use(middle!.use(inner!))
    for (const router of [outer!, middle!, inner!]) {
      const error = await startupErrorOf(() => inner!.use(router))
      expect([error.code, error.found]).to.deep.equal([
        'MORTAR_USE',
        'use() of router /inner was given a router that contains router /inner itself.',
      ])
    }
    expect(outer!.routes()).to.deep.equal([])
  })

  it('is refused by fromKoa() if it is neither middleware nor a router', async () => {
    for (const given of [null, undefined, {}, 'helmet', { routes: true }]) {
      const error = await startupErrorOf(() => fromKoa(given as never))
      expect([error.code, error.remedy]).to.deep.equal([
        'MORTAR_USE',
        'Pass a function (ctx, next) or a router of @koa/router: fromKoa(helmet()), fromKoa(router).',
      ])
    }
  })

  it('is refused by use() if it is the options of another framework', async () => {
    const error = await startupErrorOf(() => untyped(quiet())['use']!(createRouter(), { prefix: '/api' }))
    expect(error.remedy).to.include('createRouter({ prefix })')
  })

  it('is refused before the handler of a route: a guard there would leave the route open', async () => {
    const guard = () => {
      throw new Unauthorized()
    }
    for (const given of [[guard], [{}, guard], [[guard]], [null]]) {
      const error = await startupErrorOf(() => untyped(createRouter())['get']!('/admin', ...given, () => 1))
      expect(error.code).to.equal('MORTAR_ROUTE_DEFINITION')
      expect(error.found).to.include('GET /admin in router /')
      expect(error.remedy).to.include('use(middleware)').and.to.include('auth')
    }
  })
})

describe('A function that returns a brick or a router, in place of it', () => {
  const router = createRouter()
  const users = () => createRouter({ prefix: '/users' })
  const maintenance = { name: 'maintenance', text: 'Back soon.' }
  const tenants = { routerFor: (_path: string): object | undefined => undefined }

  it('is named at its first request', async () => {
    for (const [given, expected] of [
      [database, 'The options of database() are a function'],
      [users, 'it is a router. Pass the router itself to use().'],
      [() => createRouter(), 'it is a router. Pass the router itself to use().'],
      [() => router, 'it is a router. Pass the router itself to use().'],
    ] as const) {
      const { status, detail } = await get(untyped(quiet())['use']!(given))
      expect(status).to.equal(500)
      expect(detail).to.include(expected)
    }
  })

  it('is not suspected in other middleware', async () => {
    const app = quiet()
      .use((ctx, next) => [ctx.path, next()][1])
      .use(createRouter().use((_ctx, next) => next()))
      .use(fromKoa(async (_ctx, next) => next()))
      .use((ctx, next) => tenants.routerFor(ctx.path) ?? next())
      .use((ctx) => tenants.routerFor(ctx.path) ?? maintenance)
    expect((await app.inject('/')).json()).to.deep.equal(maintenance)
    expect(() => createRouter().use(() => maintenance)).to.not.throw()
  })
})

describe('A value in place of a handler or a path', () => {
  it('is named if it is a class', async () => {
    class Users {
      list = () => []
    }
    const error = await startupErrorOf(() => untyped(createRouter())['get']!('/users', Users))
    expect(error.code).to.equal('MORTAR_HANDLER_NOT_A_FUNCTION')
    expect(error.found).to.equal('GET /users in router / has a class in place of a handler.')
  })

  it('is named if it is a regular expression', async () => {
    const error = await startupErrorOf(() => untyped(createRouter())['get']!(/users/, () => 1))
    expect(error.code).to.equal('MORTAR_ROUTE_PATTERN_SEGMENT')
    expect(error.found).to.equal('A path of GET in router / is an object, not a string.')
  })
})

describe('A key of a headers schema', () => {
  it('is refused in upper case, because no request could match it', async () => {
    const headers = object({ 'X-Tenant': string().required(), 'x-page': number() })
    const router = createRouter().get('/', { headers }, () => 1)
    const error = await startupErrorOf(() => quiet().use(router).ready())
    expect(error.code).to.equal('MORTAR_ROUTE_HEADERS_KEY')
    expect(error.found).to.match(/has "X-Tenant" in its `headers` schema/)
    expect(error.remedy).to.equal('Write "x-tenant": Node gives the names of headers in lower case.')
  })
})

describe('Middleware with the habits of another framework', () => {
  for (const environment of ['development', 'production'] as const)
    it(`fails with the error that it gives to next(), in ${environment}`, async () => {
      for (const error of [new NotFound('Not here.'), new Error('unexpected')]) {
        let isReached = false
        const router = createRouter()
          .use((_ctx, next) => untyped({ next })['next']!(error))
          .get('/', () => {
            isReached = true
            return 1
          })
        const { status } = await get(quiet(environment).use(router))
        expect([status, isReached]).to.deep.equal([error instanceof NotFound ? 404 : 500, false])
      }
    })

  it('may pass next to then(), which gives it a value', async () => {
    const router = createRouter()
      // oxlint-disable-next-line promise/no-callback-in-promise -- the habit under test
      .use((_ctx, next) => Promise.resolve('a value').then(next))
      .get('/', () => ({ detail: 'reached' }))
    expect(await get(quiet().use(router))).to.deep.equal({ status: 200, detail: 'reached' })
  })

  it('is named if it sets ctx.body, before or after the handler', async () => {
    for (const isAfter of [true, false]) {
      const router = createRouter()
        .use(async function wrap(ctx, next) {
          if (isAfter) await next()
          Object.assign(ctx, { body: { wrapped: true } })
        })
        .get('/', () => ({ a: 1 }))
      const { status, detail } = await get(quiet().use(router))
      expect(status).to.equal(500)
      expect(detail).to.match(/^wrap in router \/ set ctx\.body and returned nothing\./)
    }
  })

  it('is logged once in production if it sets ctx.body, and the response stays', async () => {
    const lines: string[] = []
    const log = (line: unknown) => void (typeof line === 'string' && lines.push(line))
    const logger: Logger = { debug: ignore, info: ignore, warn: ignore, error: log, child: () => logger }
    const app = createApp({ logger, environment: 'production' }).use((ctx) => {
      Object.assign(ctx, { body: 'page' })
    })
    for (const url of ['/', '/']) expect((await app.inject(url)).statusCode).to.equal(204)
    await app.close()
    expect(lines).to.have.length(1)
    expect(lines[0]).to.match(/set ctx\.body and returned nothing\..* wrap Koa middleware in fromKoa\(\)/)
  })

  it('is not blamed for the body that the framework has read before an error that it catches', async () => {
    const router = createRouter()
      .use((_ctx, next) => next().then(ignore, ignore))
      .post('/', { body: object({ a: number() }) }, () => Promise.reject(new NotFound()))
    const app = quiet().use(router)
    const response = await app.inject({ method: 'POST', url: '/', payload: { a: 1 } })
    expect([response.statusCode, response.payload]).to.deep.equal([204, ''])
  })

  it('may set ctx.body for the handler', async () => {
    const router = createRouter()
      .use(async (ctx, next) => {
        Object.assign(ctx, { body: { detail: 'decrypted' } })
        await next()
      })
      .get('/', (ctx) => ctx.body)
    expect(await get(quiet().use(router))).to.deep.equal({ status: 200, detail: 'decrypted' })
  })
})

describe('A handler that sets ctx.body and returns nothing', () => {
  it('is an error, with and without waiting, unless it responds through Koa', async () => {
    const set = (ctx: object): void => void Object.assign(ctx, { body: { ok: true } })
    for (const handler of [set, async (ctx: object) => set(ctx)]) {
      const response = await quiet().use(createRouter().get('/', handler)).inject('/')
      expect(response.statusCode).to.equal(500)
      expect(response.json().detail).to.match(
        /^The handler of GET \/ .* set ctx\.body and returned nothing\./,
      )
    }
    const throughKoa = createRouter().get('/', (ctx) => {
      set(ctx)
      ctx.koa.body = { detail: 'of Koa' }
    })
    expect(await get(quiet().use(throughKoa))).to.deep.equal({ status: 200, detail: 'of Koa' })
  })
})

describe('An async iterable of objects', () => {
  it('is refused with the remedy', async () => {
    const router = createRouter().get('/', async function* rows() {
      yield { id: 1 }
    })
    const { status, detail } = await get(quiet().use(router))
    expect(status).to.equal(500)
    expect(detail).to.equal(
      'An async iterable of a response yielded a value that is neither a string nor bytes. Yield strings, such as ' +
        'JSON.stringify(value) + "\\n".',
    )
  })
})
