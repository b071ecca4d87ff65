import { Router, type RouterMiddleware } from '@koa/router'
import { expect } from 'chai'
import Koa from 'koa'
import { createApp, createRouter, fromKoaRouter } from 'mortar'
import { ask, gets, servePlain, type Ask } from '../support/compare-with-koa.ts'
import { ADAPTERS } from '../support/adapters.ts'
import { expandKoaPath } from '../../src/koa/router/koa-router-paths.ts'

describe('a path of @koa/router', () => {
  it('may have four optional groups, and any number of escaped characters', () => {
    expect(expandKoaPath('/a{/b}{/c}{/d}{/e}', 'here')).to.have.length(16)
    expect(() => expandKoaPath('/a{/b}{/c}{/d}{/e}{/f}', 'here')).to.throw('has 5 optional groups')
    expect(expandKoaPath('/a{/b{/c}}', 'here')).to.have.members(['/a', '/a/b', '/a/b/c'])
    const escaped = String.raw`\{`.repeat(5)
    expect(expandKoaPath(`/${escaped}`, 'here')).to.deep.equal([`/${'%7B'.repeat(5)}`])
    expect(expandKoaPath('/a\\\tb', 'here')).to.deep.equal(['/a%09b'])
  })

  it('is one route for several layers, with the names of the first', () => {
    const router = new Router()
    for (const path of ['/:id', '/:name', '/:id/x']) router.get(path, () => undefined)
    const paths = fromKoaRouter(router)
      .routes()
      .map(({ path }) => path)
    expect(paths).to.deep.equal(['/:id', '/:id/x'])
  })
})

describe('a router of @koa/router that is adopted', () => {
  describe('has layers that cannot be routes', () => {
    const body: RouterMiddleware = (ctx) => {
      ctx.body = { path: ctx.path, ...ctx.params, ...(ctx.captures as string[]) }
    }
    const cases: [string, (router: Router) => unknown, string][] = [
      [
        'a regular expression',
        (router) => router.get(/^\/re\/(\d+)$/, body),
        'has a regular expression as its path',
      ],
      ['an unknown method', (router) => router.register('/cache', ['PURGE'], body), 'has the method PURGE'],
      ['two parameters in a segment', (router) => router.get('/:a-:b', body), "has the parameter ':a-:b'"],
      ['a catch-all in the middle', (router) => router.get('/*a/end', body), "has segments after '*a'"],
      ['an optional part of a segment', (router) => router.get('/file{.:ext}', body), "has 'file.:ext'"],
      ['end: false', (router) => router.register('/below', ['GET'], body, { end: false }), 'end: false'],
    ]

    for (const [name, add, message] of cases)
      it(`reports ${name} with the remedy`, async () => {
        const router = new Router()
        router.get('/fine', body)
        add(router)
        const error = await createApp()
          .use(fromKoaRouter(router))
          .ready()
          .catch((reason: Error) => reason)
        expect(error).to.be.instanceOf(Error)
        expect((error as Error).message)
          .to.contain(message)
          .and.to.contain('Remedy:')
        expect((error as Error).message).to.contain('@koa/router layer')
      })

    it('reports all of them in one run', async () => {
      const router = new Router()
      for (const [, add] of cases) add(router)
      const error = (await createApp()
        .use(fromKoaRouter(router))
        .ready()
        .catch((reason: unknown) => reason)) as { errors: unknown[] }
      expect(error.errors).to.have.length(cases.length)
    })

    it('runs them as plain middleware if the option asks for it, byte for byte as in plain Koa', async () => {
      const make = () => {
        const router = new Router()
        router.use((ctx, next) => {
          ctx.append('X-Seen', 'use')
          return next()
        })
        router.get('/fine/:id', (ctx, next) => {
          ctx.append('X-Seen', 'fine')
          ctx.body = 'fine'
          return next()
        })
        for (const [, add] of cases) add(router)
        router.all('/fine/:id', (ctx) => {
          ctx.append('X-Seen', 'all')
          ctx.body = `${String(ctx.body)} and all`
        })
        return router
      }
      const koa = new Koa()
      koa.use(make().routes())
      const plain = await servePlain(koa)
      const open = await ADAPTERS[0]!.open(
        createApp().use(fromKoaRouter(make(), { unsupported: 'middleware' })),
      )
      const asks: Ask[] = [
        ...gets('/fine/1', '/re/12', '/a-b', '/x/y/end', '/file.txt', '/below/1'),
        { method: 'PURGE', path: '/cache' },
        { method: 'POST', path: '/fine/1' },
      ]
      for (const each of asks)
        expect(await ask(open.url, each), `${each.method ?? 'GET'} ${each.path}`).to.deep.equal(
          await ask(plain.url, each),
        )
      expect((await ask(open.url, { path: '/nowhere' })).status).to.equal(404)
      plain.close()
      await open.close()
    })

    it('runs them as plain middleware of a router that is public by auth: false', async () => {
      const router = new Router()
      router.get(/^\/all$/, body)
      const options = { auth: false, unsupported: 'middleware' } as const
      const app = createApp({ logger: false }).use(fromKoaRouter(router, options))
      expect((await app.inject('/all')).statusCode).to.equal(200)
      await app.close()
    })

    it('refuses to run them outside of a guard', async () => {
      const router = new Router()
      router.get(/all/, body)
      for (const mounted of [
        fromKoaRouter(router, { auth: true, unsupported: 'middleware' }),
        createRouter({ auth: true }).use(fromKoaRouter(router, { unsupported: 'middleware' })),
      ]) {
        const error = await createApp()
          .use(mounted)
          .ready()
          .catch((reason: unknown) => reason)
        expect(error).to.have.property('code', 'MORTAR_KOA_ROUTER_UNGUARDED')
      }
    })
  })
})
