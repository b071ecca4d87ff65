import { Router, RouterEvents } from '@koa/router'
import { expect } from 'chai'
import type Koa from 'koa'
import { createApp, createRouter, fromKoa, fromKoaRouter, type App, type KoaRouterOptions } from 'mortar'
import { bearer, tokens } from '../support/tokens-brick.ts'

describe('a router of @koa/router that is adopted', () => {
  describe('is part of the application', () => {
    const withUser = () => {
      const router = new Router({ prefix: '/users' })
      router.get('user', '/:id', (ctx) => {
        ctx.body = { id: ctx.params.id }
      })
      router.post('/', (ctx) => {
        ctx.body = 'made'
      })
      router.get('/silent/:id', () => undefined)
      return router
    }
    const open = async (app: App) => app.ready()

    it('lists each layer as a route', async () => {
      const app = await open(createApp().use(fromKoaRouter(withUser())))
      const own = app.routes.filter(({ origin }) => origin.includes('@koa/router'))
      expect(own.map(({ method, path, origin }) => `${method} ${path} ${origin}`)).to.deep.equal([
        "GET /users/:id the @koa/router layer 'user' /users/:id",
        'POST /users the @koa/router layer /users',
        'GET /users/silent/:id the @koa/router layer /users/silent/:id',
      ])
      await app.close()
    })

    it('responds with 404 and 405 and to OPTIONS like other routes', async () => {
      const app = createApp().use(fromKoaRouter(withUser()))
      const wrong = await app.inject({ method: 'DELETE', url: '/users/1' })
      expect([wrong.statusCode, wrong.headers['allow']]).to.deep.equal([405, 'GET, HEAD, OPTIONS'])
      const options = await app.inject({ method: 'OPTIONS', url: '/users' })
      expect([options.statusCode, options.headers['allow']]).to.deep.equal([204, 'POST, OPTIONS'])
      for (const url of ['/nowhere', '/users/silent/1']) {
        const response = await app.inject(url)
        expect([response.statusCode, response.json<{ code: string }>().code]).to.deep.equal([
          404,
          'not_found',
        ])
      }
      await app.close()
    })

    it('documents its routes with parameters and tags', async () => {
      const app = createApp().use(fromKoaRouter(withUser(), { tags: ['people'] }))
      const { paths } = (await app.inject('/openapi.json')).json<{
        paths: Record<string, Record<string, { tags: string[]; parameters: { name: string; in: string }[] }>>
      }>()
      const operation = paths['/users/{id}']!['get']!
      expect(operation.tags).to.deep.equal(['people'])
      expect(operation.parameters.map(({ name, in: place }) => `${place} ${name}`)).to.deep.equal(['path id'])
      await app.close()
    })

    it('is left out of the document when hidden', async () => {
      const app = createApp().use(fromKoaRouter(withUser(), { hidden: true }))
      const { paths } = (await app.inject('/openapi.json')).json<{ paths: object }>()
      expect(Object.keys(paths).filter((path) => path.startsWith('/users'))).to.deep.equal([])
      await app.close()
    })

    it('is hidden as its parent router is, unless it says otherwise, and has the problems of its parents', async () => {
      const pathsOf = async (parentHidden: boolean, hidden?: boolean) => {
        const options = hidden === undefined ? {} : { hidden }
        const grandparent = createRouter({ prefix: '/p', problems: [410], hidden: parentHidden })
        const parent = createRouter({ problems: [409] }).use(fromKoaRouter(withUser(), options))
        const app = createApp().use(grandparent.use(parent.get('/own', () => 1)))
        const { paths } = (await app.inject('/openapi.json')).json<{
          paths: Record<string, { get?: { responses: object } }>
        }>()
        await app.close()
        return paths
      }
      const [shown, own] = ['/p/users/{id}', '/p/own']
      expect(await pathsOf(true)).to.not.have.any.keys(shown, own)
      expect(await pathsOf(true, false)).to.have.property(shown)
      expect(await pathsOf(false, true)).to.not.have.property(shown)
      const paths = await pathsOf(false)
      for (const path of [shown, own]) expect(paths[path]!.get!.responses, path).to.include.keys('409', '410')
    })

    it('has the middleware and the tags of the router that it is mounted in', async () => {
      const order: string[] = []
      const parent = createRouter({ tags: ['v2'], hidden: false }).use(async (ctx, next) => {
        order.push(`in ${ctx.path}`)
        await next()
        order.push('out')
      })
      const app = createApp().use(parent.use(fromKoaRouter(withUser(), { tags: ['people'] })))
      expect((await app.inject('/users/3')).json()).to.deep.equal({ id: '3' })
      expect(order).to.deep.equal(['in /users/3', 'out'])
      expect(app.routes.find(({ path }) => path === '/users/:id')!.definition.tags).to.deep.equal([
        'v2',
        'people',
      ])
      await app.close()
    })

    it('gives the layers the user that the guard checked, not the user of an outer Koa application', async () => {
      const router = new Router()
      router.get('/who', (ctx) => {
        const { user, mortar } = ctx.state as { user: { id: string }; mortar: { path: string } }
        ctx.body = { user: user.id, path: mortar.path, keys: Object.keys(ctx.state) }
      })
      const app = createApp()
        .use(tokens())
        .use(fromKoaRouter(router, { auth: true }))
      app.koa.use((ctx, next) => {
        ctx.state['user'] = { id: 'of the outer application' }
        return next()
      })
      const { body } = await app.inject({ url: '/who', headers: bearer('ada') })
      expect(JSON.parse(body)).to.deep.equal({ user: 'ada', path: '/who', keys: ['user'] })
      await app.close()
    })

    it('reads bodies of the types in `consumes` and leaves them in ctx.request.body', async () => {
      const router = new Router()
      router.post('/echo', (ctx) => {
        ctx.body = (ctx.request as { body?: unknown }).body
      })
      const app = createApp().use(fromKoaRouter(router, { consumes: ['application/json'] }))
      const fine = await app.inject({ method: 'POST', url: '/echo', payload: { a: 1 } })
      expect(fine.json()).to.deep.equal({ a: 1 })
      const other = await app.inject({
        method: 'POST',
        url: '/echo',
        payload: 'x',
        headers: { 'content-type': 'text/plain' },
      })
      expect(other.statusCode).to.equal(415)
      await app.close()
    })

    it('works when it is mounted after the start', async () => {
      const app = await open(createApp())
      app.use(fromKoaRouter(withUser()))
      expect((await app.inject('/users/3')).json()).to.deep.equal({ id: '3' })
      await app.close()
    })

    it('lets Koa middleware in front fill a 404 if no layer responded', async () => {
      const fill: Koa.Middleware = async (ctx, next) => {
        await next()
        if (ctx.status === 404) ctx.body = 'filled'
      }
      const app = createApp().use(fromKoa(fill)).use(fromKoaRouter(withUser()))
      expect((await app.inject('/users/silent/1')).body).to.equal('filled')
      await app.close()
    })

    it('reports a conflict with another route and names both', async () => {
      const app = createApp()
        .use(createRouter({ prefix: '/users' }).get('/:id', () => 1))
        .use(fromKoaRouter(withUser()))
      const error = await app.ready().then(
        () => undefined,
        (reason: Error) => reason,
      )
      expect(error?.message)
        .to.contain('router /users')
        .and.to.contain("the @koa/router layer 'user' /users/:id")
    })
  })

  describe('guards', () => {
    const secret = () => {
      const router = new Router()
      let calls = 0
      router.use((_, next) => {
        calls++
        return next()
      })
      router.get('/secret', (ctx) => {
        ctx.body = 'secret'
      })
      return { router, calls: () => calls }
    }

    it('decide before any layer of the router runs', async () => {
      const { router, calls } = secret()
      const app = createApp()
        .use(tokens({ admin: (user) => user.id === 'admin' }))
        .use(createRouter({ auth: 'admin' }).use(fromKoaRouter(router)))
      const statusFor = async (headers: Record<string, string>) =>
        (await app.inject({ url: '/secret', headers })).statusCode
      expect(await statusFor({})).to.equal(401)
      expect(await statusFor(bearer('bad'))).to.equal(401)
      expect(await statusFor(bearer('eve'))).to.equal(403)
      expect(calls()).to.equal(0)
      expect(await statusFor(bearer('admin'))).to.equal(200)
      expect(calls()).to.equal(1)
      for (const url of ['/secret/', '/%73ecret', '/SECRET', '//secret', '/./secret'])
        expect((await app.inject({ url })).statusCode, url).to.be.oneOf([401, 404])
      expect(calls()).to.equal(1)
      await app.close()
    })

    it('are replaced by auth: false and by the guard of the router itself', async () => {
      const app = createApp()
        .use(tokens())
        .use(
          createRouter({ auth: true, prefix: '/open' }).use(fromKoaRouter(secret().router, { auth: false })),
        )
        .use(fromKoaRouter(secret().router, { auth: true, prefix: '/closed' }))
      expect((await app.inject('/open/secret')).body).to.equal('secret')
      expect((await app.inject('/closed/secret')).statusCode).to.equal(401)
      const { paths } = (await app.inject('/openapi.json')).json<{
        paths: Record<string, { get: { security?: unknown } }>
      }>()
      expect(paths['/closed/secret']!.get).to.have.property('security')
      expect(paths['/open/secret']!.get).not.to.have.property('security')
      await app.close()
    })

    it('need an authenticator', async () => {
      const error = await createApp()
        .use(fromKoaRouter(secret().router, { auth: true }))
        .ready()
        .catch((reason: { code: string }) => reason)
      expect(error).to.have.property('code', 'MORTAR_AUTH_MISSING')
    })

    it('are checked when the router is given', () => {
      const { router } = secret()
      const codeOf = (options: unknown) => {
        try {
          fromKoaRouter(router, options as KoaRouterOptions)
          return undefined
        } catch (error) {
          return (error as { code: string }).code
        }
      }
      for (const auth of [undefined, null, '', [], 1, {}])
        expect(codeOf({ auth }), String(auth)).to.equal('MORTAR_ROUTE_AUTH_SHAPE')
      for (const options of [
        { Auth: true },
        { auht: true },
        { policy: 'admin' },
        { tag: ['a'] },
        null,
        [],
        true,
      ])
        expect(codeOf(options), JSON.stringify(options)).to.equal('MORTAR_KOA_ROUTER')
      for (const options of [{ tags: 'a' }, { prefix: 1 }])
        expect(codeOf(options)).to.equal('MORTAR_KOA_ROUTER')
      expect(codeOf({ consumes: ['json'] })).to.equal('MORTAR_ROUTE_VALUE')
      expect(codeOf({ unsupported: 'ignore' })).to.equal('MORTAR_KOA_ROUTER')
      expect(codeOf({ auth: false, tags: [], hidden: true })).to.equal(undefined)
    })

    it('suggest the similar option', () => {
      const { router } = secret()
      expect(() => fromKoaRouter(router, { policy: 'admin' } as KoaRouterOptions)).to.throw(
        "Did you mean 'auth'?",
      )
    })
  })

  it('refuses something that is not a router', () => {
    for (const given of [undefined, null, {}, () => undefined, { stack: [] }])
      expect(() => fromKoaRouter(given as never), String(given)).to.throw(
        'which is not a router of @koa/router',
      )
    expect(() => fromKoaRouter(new Router({ routerPath: '/x' }))).to.throw('routerPath')
  })

  it('accepts router.routes() too', async () => {
    const router = new Router()
    router.get('/x', (ctx) => {
      ctx.body = 'x'
    })
    const app = createApp().use(fromKoaRouter(router.routes() as never))
    expect((await app.inject('/x')).body).to.equal('x')
    await app.close()
  })

  it('does not change the router', async () => {
    const router = new Router()
    router.on(RouterEvents.NotFound, (ctx) => {
      ctx.body = 'own'
    })
    router.get('named', '/x/:id', (ctx) => {
      ctx.body = ctx.router.url('named', 5)
    })
    const app = createApp().use(fromKoaRouter(router, { prefix: '/p' }))
    expect((await app.inject('/p/x/1')).body).to.equal('/p/x/5')
    expect(router.url('named', 5)).to.equal('/x/5')
    expect(router.stack.map(({ path }) => path)).to.deep.equal(['/x/:id'])
    await app.close()
  })
})
