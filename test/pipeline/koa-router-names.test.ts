import { Router, type RouterMiddleware } from '@koa/router'
import { expect } from 'chai'
import Koa from 'koa'
import { createApp, createRouter, fromKoaRouter, type App } from 'mortar'
import { ADAPTERS } from '../support/adapters.ts'
import { ask, compareRouters, gets, servePlain, type Ask } from '../support/compare-with-koa.ts'
import { bearer, tokens } from '../support/tokens-brick.ts'

const show: RouterMiddleware = (ctx) => {
  ctx.body = { params: ctx.params, matched: ctx._matchedRoute, name: String(ctx._matchedRouteName) }
}

const routerOf = (add: (router: Router) => unknown, options?: ConstructorParameters<typeof Router>[0]) => {
  const router = new Router(options)
  add(router)
  return router
}

/** Sends the requests to plain Koa with these routers, and to Mortar with the routers adopted. */
async function compare(make: () => readonly Router[], asks: readonly Ask[]): Promise<void> {
  const koa = new Koa()
  for (const router of make()) koa.use(router.routes())
  const plain = await servePlain(koa)
  for (const adapter of ADAPTERS) {
    const app = createApp()
    for (const router of make()) app.use(fromKoaRouter(router))
    const open = await adapter.open(app)
    for (const each of asks)
      expect(await ask(open.url, each), `${each.method ?? 'GET'} ${each.path}`).to.deep.equal(
        await ask(plain.url, each),
      )
    await open.close()
  }
  plain.close()
}

const codeOf = (app: App) => app.ready().catch(({ code }: { code: string }) => code)

async function pathsOf(
  app: App,
): Promise<Record<string, Record<string, { parameters: { name: string }[] }>>> {
  return (await app.inject('/openapi.json')).json<{ paths: never }>().paths
}

describe('adopted routers of @koa/router', () => {
  describe('that name one position of a path differently', () => {
    it('keep their own names in ctx.params, as in plain Koa', () =>
      compare(
        () => [
          routerOf((router) => router.get('/users/:id', show).get('/files/*path', show)),
          routerOf((router) => router.get('/users/:uid/posts', show).put('/users/:slug', show)),
          routerOf((router) => router.get('/users/:who/posts/:id', show).post('/files/*rest', show)),
        ],
        [
          ...gets('/users/1', '/users/1/posts', '/users/1/posts/2', '/files/a/b'),
          { method: 'PUT', path: '/users/1' },
          { method: 'POST', path: '/files/a/b' },
        ],
      ))

    it('run beside native routes, before and after them, and have the names of these in OpenAPI', async () => {
      const adopted = () =>
        fromKoaRouter(
          routerOf((router) => router.put('/users/:slug', show).get('/users/:who/posts/:id', show)),
        )
      const native = createRouter().get('/users/:id', (ctx) => ({ native: ctx.params['id'] }))
      for (const app of [createApp().use(native).use(adopted()), createApp().use(adopted()).use(native)]) {
        expect((await app.inject('/users/7')).json()).to.deep.equal({ native: '7' })
        expect((await app.inject({ method: 'PUT', url: '/users/7' })).json()).to.deep.include({
          params: { slug: '7' },
          matched: '/users/:slug',
        })
        const paths = await pathsOf(app)
        const names = Object.entries(paths).map(([path, { get, put }]) => [
          path,
          (get ?? put!).parameters.map(({ name }) => name),
        ])
        expect(names).to.deep.equal([
          ['/users/{id}', ['id']],
          ['/users/{id}/posts/{id2}', ['id', 'id2']],
        ])
        expect(Object.keys(paths['/users/{id}']!).toSorted()).to.deep.equal(['get', 'put'])
        await app.close()
      }
    })

    it('leave the names of native routes checked', async () => {
      const app = createApp()
        .use(fromKoaRouter(routerOf((router) => router.get('/users/:uid', show))))
        .use(createRouter().put('/users/:id', () => 1))
        .use(createRouter().post('/users/:slug', () => 1))
      expect(await codeOf(app)).to.equal('MORTAR_ROUTE_PARAMETER_NAMES')
    })
  })

  describe('have the case rule of their router', () => {
    const login = (router: Router) =>
      router.get('/Auth/Login', show).get('/Auth/:Name/Keys', show).get('/', show)

    it('which is any case by default, with values in their own case', () =>
      compare(
        () => [routerOf(login, { prefix: '/Api' })],
        gets('/Api/Auth/Login', '/api/auth/login', '/API/AUTH/LOGIN/', '/api/auth/Ada/KEYS', '/api', '/API/'),
      ))

    it('which finds the first of two layers that differ in case only', () =>
      compareRouters(
        () =>
          routerOf((router) => {
            router
              .get('/Users', (ctx) => void (ctx.body = 'first'))
              .get('/users', show)
              .put('/users', show)
          }),
        [...gets('/Users', '/users'), { method: 'PUT', path: '/USERS' }],
      ))

    it('which is the exact case with `sensitive`', () =>
      compareRouters(
        () =>
          routerOf(
            (router) => {
              router.get('/Users', (ctx) => void (ctx.body = 'upper'))
              router.get('/users', (ctx) => void (ctx.body = 'lower'))
            },
            { sensitive: true },
          ),
        gets('/Users', '/users'),
      ))

    it('and route files and native routers stay exact, which come first', async () => {
      const app = createApp()
        .use(fromKoaRouter(routerOf((router) => router.get('/users/me', show).get('/Guests', show))))
        .use(
          createRouter()
            .get('/users/:id', () => 'native')
            .get('/pages', () => 'page'),
        )
      const statuses = []
      for (const url of ['/PAGES', '/guests', '/GUESTS']) statuses.push((await app.inject(url)).statusCode)
      expect(statuses).to.deep.equal([404, 200, 200])
      expect((await app.inject('/users/ME')).body).to.equal('native')
      const wrong = await app.inject({ method: 'DELETE', url: '/GUESTS' })
      expect([wrong.statusCode, wrong.headers['allow']]).to.deep.equal([405, 'GET, HEAD, OPTIONS'])
      await app.close()
    })

    it('and the guard in every case', async () => {
      const app = createApp()
        .use(tokens())
        .use(
          fromKoaRouter(
            routerOf((router) => router.get('/admin', show)),
            { auth: true },
          ),
        )
      for (const url of ['/admin', '/ADMIN', '/%61dmin', '/%41DMIN'])
        expect((await app.inject(url)).statusCode, url).to.equal(401)
      expect((await app.inject({ url: '/ADMIN', headers: bearer('ada') })).statusCode).to.equal(200)
      await app.close()
    })

    it('which no other case reaches with `sensitive`, neither the guard nor a 405', async () => {
      const guarded = routerOf((router) => {
        router.get('/admin', show)
        router.register('/exact', ['GET'], show, { sensitive: true })
      })
      const app = createApp()
        .use(tokens())
        .use(fromKoaRouter(guarded, { auth: true }))
      for (const [url, status] of [
        ['/ADMIN', 401],
        ['/exact', 401],
        ['/EXACT', 404],
      ] as const)
        expect((await app.inject(url)).statusCode, url).to.equal(status)
      expect((await app.inject({ method: 'DELETE', url: '/EXACT' })).statusCode).to.equal(404)
      await app.close()
    })

    it('and are refused if two routers have one path in two cases', async () => {
      const of = (path: string, sensitive: boolean) =>
        fromKoaRouter(routerOf((router) => router.get(path, show), { sensitive }))
      const refused = createApp().use(of('/Users', false)).use(of('/users', true))
      expect(await codeOf(refused)).to.equal('MORTAR_ROUTE_CASE')
      const app = createApp().use(of('/Users', true)).use(of('/users', true))
      expect((await app.inject('/USERS')).statusCode).to.equal(404)
      await app.close()
    })
  })

  it('may have symbols as names of layers, and layers without a name', async () => {
    const made = routerOf((router) => {
      router.get(Symbol('home') as never, '/', show)
      router.get('/plain', show)
    })
    Object.assign(made.stack[1]!, { name: null })
    const app = createApp().use(fromKoaRouter(made))
    expect((await app.inject('/')).json()).to.have.property('name', 'Symbol(home)')
    expect(app.routes.map(({ origin }) => origin).filter((origin) => origin.includes('@koa'))).to.deep.equal([
      "the @koa/router layer 'Symbol(home)' /",
      'the @koa/router layer /plain',
    ])
    await app.close()
  })

  describe('with layers of every method', () => {
    const make = () =>
      routerOf((router) => {
        router.get('/both', (ctx, next) => {
          ctx.set('X-First', 'get')
          return next()
        })
        router.all('/both', (ctx) => void (ctx.body = ctx.method))
        router.all('/any/:id', (ctx) => void (ctx.body = ctx.params))
        router.redirect('/old', '/new', 308)
      })
    const methods = ['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS']

    it('serve the seven methods of routes, as in plain Koa', () =>
      compareRouters(
        make,
        ['/both', '/any/1', '/old'].flatMap((path) => methods.map((method) => ({ method, path }))),
      ))

    it('are routes with the guard of their router', async () => {
      const app = createApp()
        .use(tokens())
        .use(fromKoaRouter(make(), { auth: true }))
      for (const method of ['GET', 'POST', 'OPTIONS'] as const)
        for (const url of ['/any/1', '/old'])
          expect((await app.inject({ method, url })).statusCode, `${method} ${url}`).to.equal(401)
      const { statusCode } = await app.inject({ method: 'PATCH', url: '/old', headers: bearer('ada') })
      expect(statusCode).to.equal(308)
      await app.close()
    })
  })
})
