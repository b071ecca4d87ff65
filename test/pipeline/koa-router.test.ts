import { Router, createParameterValidationMiddleware, type RouterMiddleware } from '@koa/router'
import { expect } from 'chai'
import type Koa from 'koa'
import { createApp, createRouter, fromKoaRouter } from 'mortar'
import { ask, compareRouters, gets } from '../support/compare-with-koa.ts'
import { ADAPTERS } from '../support/adapters.ts'

const show: RouterMiddleware = (ctx) => {
  ctx.body = {
    params: ctx.params,
    requestParams: ctx.request.params,
    captures: ctx['captures'] as unknown,
    matched: ctx._matchedRoute,
    name: ctx._matchedRouteName,
    routerPath: ctx.routerPath as unknown,
    routerName: ctx['routerName'] as unknown,
    layers: (ctx['matched'] as { path: unknown }[]).map(({ path }) => String(path)),
    url: ctx.router.url('user', { id: 3, tenant: 't' }, { query: { limit: 1 } }),
  }
}

describe('a router of @koa/router that is adopted', () => {
  describe('responds byte for byte as in plain Koa', () => {
    it('with parameters, names, captures and URLs', async () => {
      const answers = await compareRouters(
        () => {
          const router = new Router({ prefix: '/api' })
          router.get('home', '/', show)
          router.get('user', '/users/:id', show)
          router.get('/users/:id/posts/:postId', show)
          router.get('/files/*path', show)
          router.get('/optional{/:page}', show)
          router.get(String.raw`/a\:b`, show)
          return router
        },
        gets(
          '/api',
          '/api/',
          '/api/users/7',
          '/api/users/caf%C3%A9',
          '/api/users/1%2F2',
          '/api/users/7/posts/8',
          '/api/files/a/b.txt',
          '/api/optional',
          '/api/optional/3',
          '/api/a:b',
        ),
      )
      expect(answers.map(({ status }) => status)).to.deep.equal(Array.from({ length: 10 }, () => 200))
      expect(JSON.parse(answers[2]!.body)).to.deep.include({ matched: '/api/users/:id', name: 'user' })
    })

    it('with every method that a route may have', async () => {
      const router = () => {
        const made = new Router()
        for (const method of ['get', 'post', 'put', 'patch', 'delete', 'head', 'options'] as const)
          made[method](`/${method}`, (ctx) => {
            ctx.set('X-Method', ctx.method)
            ctx.body = ctx.method
          })
        made.register('/both', ['GET', 'POST'], (ctx) => {
          ctx.body = { method: ctx.method }
        })
        return made
      }
      await compareRouters(router, [
        ...['get', 'post', 'put', 'patch', 'delete', 'head', 'options'].map((method) => ({
          method: method.toUpperCase(),
          path: `/${method}`,
        })),
        { method: 'HEAD', path: '/get' },
        { method: 'GET', path: '/both' },
        { method: 'HEAD', path: '/both' },
        { method: 'POST', path: '/both' },
      ])
    })

    it('with middleware for all paths, for one path and for a route, in their order', async () => {
      const answers = await compareRouters(
        () => {
          const mark =
            (name: string): RouterMiddleware =>
            async (ctx, next) => {
              ctx.append('X-Order', `${name} in`)
              await next()
              ctx.append('X-Order', `${name} out`)
            }
          const router = new Router()
          router.use(mark('all'))
          router.use('/users', mark('users'))
          router.use(['/posts', '/users/:id'], mark('list'))
          router.get('/users/:id', mark('own'), (ctx) => {
            ctx.body = 'user'
          })
          router.get('/posts', (ctx) => {
            ctx.body = 'posts'
          })
          router.use(mark('late'))
          return router
        },
        gets('/users/1', '/posts'),
      )
      expect(answers[0]!.headers['x-order']).to.equal(
        'all in, users in, list in, own in, own out, list out, users out, all out',
      )
    })

    it('with router.param, also of a nested router, once per request', async () => {
      await compareRouters(
        () => {
          const posts = new Router()
          posts.get('/', (ctx) => {
            ctx.body = { user: ctx.state['user'] as unknown, calls: ctx.state['calls'] as unknown }
          })
          posts.get('/:post', (ctx) => {
            ctx.body = { ...ctx.state, post: ctx.params.post }
          })
          const router = new Router()
          router.param('user', async (id, ctx, next) => {
            if (id === 'none') return ctx.throw(404, 'No such user')
            ctx.state['calls'] = ((ctx.state['calls'] as number | undefined) ?? 0) + 1
            ctx.state['user'] = { id, name: 'Alex' }
            return next()
          })
          router.param('user', (id, ctx, next) => {
            ctx.set('X-User', id)
            return next()
          })
          router.get('/users/:user', (ctx) => {
            ctx.body = ctx.state['user']
          })
          router.use('/users/:user/posts', posts.routes())
          return router
        },
        gets('/users/3', '/users/3/posts', '/users/3/posts/4'),
      )
    })

    it('with parameters that are checked by a pattern', async () => {
      const answers = await compareRouters(() => {
        const router = new Router()
        router.get('/items/:id', createParameterValidationMiddleware('id', /^\d+$/), (ctx) => {
          ctx.body = ctx.params.id
        })
        return router
      }, gets('/items/12'))
      expect(answers[0]!.body).to.equal('12')
    })

    it('with several layers for one request, which run in the order of registration', async () => {
      const answers = await compareRouters(
        () => {
          const router = new Router()
          router.get('/things/:id', (ctx, next) => {
            ctx.append('X-Seen', 'param')
            return next()
          })
          router.get('/things/new', (ctx, next) => {
            ctx.append('X-Seen', 'first new')
            return next()
          })
          router.get('/things/new', (ctx) => {
            ctx.append('X-Seen', 'second new')
            ctx.body = ctx.params
          })
          router.get('/things/*rest', (ctx) => {
            ctx.append('X-Seen', 'rest')
            ctx.body = ctx.params
          })
          return router
        },
        gets('/things/new', '/things/1', '/things/1/2'),
      )
      expect(answers[0]!.headers['x-seen']).to.equal('param, first new, second new')
      expect(answers[1]!.headers['x-seen']).to.equal('param, rest')
    })

    it('with different names for one parameter', () =>
      compareRouters(() => {
        const router = new Router()
        const body: RouterMiddleware = (ctx) => {
          ctx.body = ctx.params
        }
        router.get('/users/:id', body)
        router.put('/users/:user', body)
        router.get('/users/:userId/posts/:id', body)
        return router
      }, [...gets('/users/1', '/users/1/posts/2'), { method: 'PUT', path: '/users/4' }]))

    it('with exclusive routers and routers for one host', async () => {
      const of = (options: ConstructorParameters<typeof Router>[0]) => () => {
        const router = new Router(options)
        router.get('/:name', (ctx, next) => {
          ctx.body = `name ${ctx.params.name}`
          return next()
        })
        router.get('/fixed', (ctx, next) => {
          ctx.body = `${String(ctx.body)} fixed`
          return next()
        })
        return router
      }
      await compareRouters(of({ exclusive: true }), gets('/fixed', '/other'))
      await compareRouters(of({ exclusive: 'specificity' }), gets('/fixed', '/other'))
      await compareRouters(of({ host: /^127/ }), gets('/fixed', '/other'))
    })

    it('with strict and sensitive paths', () =>
      compareRouters(
        () => {
          const router = new Router({ strict: true, sensitive: true })
          router.get('/with', (ctx) => {
            ctx.body = 'without slash'
          })
          router.get('/with/', (ctx) => {
            ctx.body = 'with slash'
          })
          return router
        },
        gets('/with', '/with/'),
      ))

    it('with redirects, statuses, headers, types, buffers and streams', () =>
      compareRouters(
        () => {
          const router = new Router()
          router.get('target', '/target/:id', (ctx) => {
            ctx.status = 201
            ctx.type = 'text/html'
            ctx.body = '<p>made</p>'
          })
          router.get('/from', (ctx) => ctx.redirect(String(ctx.router.url('target', 1))))
          router.get('/buffer', (ctx) => {
            ctx.body = Buffer.from('bytes')
          })
          router.get('/empty', (ctx) => {
            ctx.body = null
          })
          router.get('/bare', (ctx) => {
            ctx.respond = false
            ctx.res.setHeader('Content-Length', 4)
            ctx.res.end('bare')
          })
          return router
        },
        gets('/target/1', '/from', '/buffer', '/empty', '/bare'),
      ))

    it('behind Koa middleware that reads the body, and with a body parser of its own', async () => {
      const parse: Koa.Middleware = async (ctx, next) => {
        const chunks: Buffer[] = []
        for await (const chunk of ctx.req) chunks.push(chunk as Buffer)
        ;(ctx.request as { body?: unknown }).body = JSON.parse(Buffer.concat(chunks).toString())
        await next()
      }
      const router = (own: boolean) => () => {
        const made = new Router()
        if (own) made.use(parse)
        made.post('/echo', (ctx) => {
          ctx.body = { got: (ctx.request as { body?: unknown }).body }
        })
        return made
      }
      const post = {
        method: 'POST',
        path: '/echo',
        headers: { 'content-type': 'application/json' },
        body: '{"a":1}',
      }
      await compareRouters(router(true), [post])
      await compareRouters(router(false), [post], [parse])
    })

    it('below a prefix, like a router that is nested there', async () => {
      const make = () => {
        const router = new Router()
        router.use((ctx, next) => {
          ctx.set('X-Own', ctx.path)
          return next()
        })
        router.get('user', '/users/:id', show)
        router.get('/', show)
        return router
      }
      const nested = () => {
        const outer = new Router()
        outer.use('/v1/:tenant', make().routes())
        return outer
      }
      const expected = await compareRouters(nested, gets('/v1/t/users/7', '/v1/t'))
      const app = createApp().use(
        createRouter({ prefix: '/v1' }).use(fromKoaRouter(make(), { prefix: '/:tenant' })),
      )
      const open = await ADAPTERS[0]!.open(app)
      for (const [index, path] of ['/v1/t/users/7', '/v1/t'].entries())
        expect(await ask(open.url, { path })).to.deep.equal(expected[index])
      await open.close()
    })
  })
})
