import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { expect } from 'chai'
import Koa, { type Middleware } from 'koa'
import mount from 'koa-mount'
import { createApp, createRouter, fromKoa, type App } from 'mortar'
import { array, date, number, object } from 'yup'
import { throughBothAdapters } from '../support/adapters.ts'

const user = object({ id: number().required(), born: date() })
const born = new Date('2020-01-02T03:04:05.000Z')
const sent = { id: 1, born: born.toJSON() }

const routes = () =>
  createRouter()
    .get('/user', { response: { 200: user } }, () => ({ id: 1, born, secret: 'no' }))
    .get('/list', { response: { 200: array(user) } }, () => [{ id: 1, born, secret: 'no' }])
    .get('/number', { response: { 200: number() } }, () => 5)
    .get('/date', { response: { 200: date() } }, () => born)
    .get('/null', { response: { 200: object().nullable() } }, () => null)

const after =
  (change: (ctx: Parameters<Middleware>[0]) => unknown): Middleware =>
  async (ctx, next) => {
    await next()
    await change(ctx)
  }
const pass: Middleware = (_ctx, next) => next()

const WAYS: Record<string, (middleware: readonly Middleware[]) => App> = {
  fromKoa: (middleware) => {
    const app = createApp()
    for (const one of middleware) app.use(fromKoa(one))
    return app.use(routes())
  },
  'app.koa.use': (middleware) => {
    const app = createApp().use(fromKoa(pass)).use(routes())
    for (const one of middleware) app.koa.use(one)
    return app
  },
}

describe('A body that went through a response schema', () => {
  throughBothAdapters((open) => {
    for (const [name, way] of Object.entries(WAYS))
      describe(`inside ${name}`, () => {
        it('is sent as it is when no middleware reads it', async () => {
          const { fetch } = await open(way([pass, pass]))
          for (const [path, value] of [
            ['/user', sent],
            ['/list', [sent]],
            ['/number', 5],
          ] as const) {
            const response = await fetch(path)
            expect(response.headers.get('content-type'), path).to.equal('application/json; charset=utf-8')
            expect(response.headers.get('content-length'), path).to.equal(
              String(JSON.stringify(value).length),
            )
            expect(await response.json(), path).to.deep.equal(value)
          }
        })

        it('is a plain value for middleware: the same one for each', async () => {
          const seen: unknown[] = []
          const spy = after((ctx) => seen.push(ctx.body, ctx.response.body))
          const { fetch } = await open(way([spy, spy]))
          await (await fetch('/user')).text()
          expect(seen).to.deep.equal([sent, sent, sent, sent])
          expect(new Set(seen).size).to.equal(1)
          seen.length = 0
          for (const path of ['/list', '/number', '/date', '/null']) await (await fetch(path)).text()
          const text = JSON.stringify(born)
          expect(seen.filter((_, index) => index % 4 === 0)).to.deep.equal([[sent], 5, text, 'null'])
        })

        it('is sent with the changes of middleware', async () => {
          const change = after((ctx) => {
            Object.assign(ctx.body as object, { more: 1 })
            ctx.set('X-Length', String(ctx.length))
          })
          const { fetch } = await open(way([pass, change]))
          const response = await fetch('/user')
          expect(await response.json()).to.deep.equal({ ...sent, more: 1 })
          const length = String(JSON.stringify({ ...sent, more: 1 }).length)
          expect([response.headers.get('x-length'), response.headers.get('content-length')]).to.deep.equal([
            length,
            length,
          ])
        })

        it('is replaced, wrapped and removed by middleware', async () => {
          const changes: Record<string, (ctx: Parameters<Middleware>[0]) => unknown> = {
            envelope: (ctx) => void (ctx.body = { data: ctx.body }),
            text: (ctx) => void (ctx.body = 'text'),
            status: (ctx) => void (ctx.status = 203),
            empty: (ctx) => void (ctx.status = 204),
          }
          const { fetch } = await open(way([after((ctx) => changes[ctx.querystring]!(ctx))]))
          expect(await (await fetch('/user?envelope')).json()).to.deep.equal({ data: sent })
          expect(await (await fetch('/user?text')).text()).to.equal('text')
          const other = await fetch('/user?status')
          expect([other.status, await other.json()]).to.deep.equal([203, sent])
          const empty = await fetch('/user?empty')
          expect([empty.status, await empty.text()]).to.deep.equal([204, ''])
        })
      })

    it('is a plain value for other middleware outside', async () => {
      const seen: unknown[] = []
      const app = createApp()
        .use(async (_ctx, next) => {
          const value = await next()
          seen.push(value)
          return { ...(value as object), id: 2 }
        })
        .use(fromKoa(pass))
        .use(fromKoa(pass))
        .use(routes())
      const { fetch } = await open(app)
      expect(await (await fetch('/user')).json()).to.deep.equal({ ...sent, id: 2 })
      expect(seen).to.deep.equal([sent])
    })
  })

  it('is a plain value for another Koa application, in which its own is mounted', async () => {
    const inner = createApp().use(fromKoa(pass)).use(routes())
    const seen: unknown[] = []
    const outer = new Koa().use(after((ctx) => seen.push(ctx.body))).use(mount('/api', inner.koa))
    const server = createServer(outer.callback()).listen(0, '127.0.0.1')
    try {
      await once(server, 'listening')
      const { port } = server.address() as AddressInfo
      expect(await (await fetch(`http://127.0.0.1:${port}/api/user`)).json()).to.deep.equal(sent)
      expect(seen).to.deep.equal([sent])
    } finally {
      server.closeAllConnections()
      server.close()
      await inner.close()
    }
  })
})
