import { once } from 'node:events'
import { createServer, get } from 'node:http'
import type { AddressInfo } from 'node:net'
import { Readable } from 'node:stream'
import { setImmediate as turn } from 'node:timers/promises'
import { gunzipSync } from 'node:zlib'
import { Router } from '@koa/router'
import cors from '@koa/cors'
import { expect } from 'chai'
import Koa, { HttpError, type Middleware } from 'koa'
import { koaBody } from 'koa-body'
import compress from 'koa-compress'
import helmet from 'koa-helmet'
import mount from 'koa-mount'
import { createApp, createRouter, fromKoa, NotFound, UploadedFile, type App } from 'mortar'
import { number, object, string } from 'yup'
import { recorder } from '../app/recorder.ts'
import { throughBothAdapters } from '../support/adapters.ts'

const routes = () =>
  createRouter()
    .get('/', () => ({ hello: 'world' }))
    .get('/text', () => 'plain')
    .get('/long', () => ({ text: 'x'.repeat(4000) }))
    .get('/filtered', { response: { 200: object({ id: number() }) } }, () => ({ id: 1, secret: 'no' }))
    .get('/missing', () => {
      throw new NotFound('Not here.')
    })
    .get('/boom', () => {
      throw new Error('boom')
    })
    .post('/', { body: object({ name: string().required() }) }, (ctx) => {
      ctx.status = 201
      return ctx.body
    })

const with_ = (...middleware: Middleware[]): App => {
  const app = createApp()
  for (const one of middleware) app.use(fromKoa(one))
  return app.use(routes())
}

describe('Koa middleware', () => {
  throughBothAdapters((open) => {
    it('koa-helmet sets its headers, on errors too', async () => {
      const { fetch } = await open(with_(helmet()))
      for (const path of ['/', '/missing', '/boom', '/nowhere'])
        expect((await fetch(path)).headers.get('x-content-type-options'), path).to.equal('nosniff')
    })

    it('@koa/cors responds to preflight requests and adds its headers to errors', async () => {
      const { fetch } = await open(with_(cors({ origin: 'https://app.example' }) as Middleware))
      const preflight = await fetch('/', {
        method: 'OPTIONS',
        headers: { origin: 'https://app.example', 'access-control-request-method': 'POST' },
      })
      expect(preflight.status).to.equal(204)
      expect(preflight.headers.get('access-control-allow-methods')).to.contain('POST')
      for (const path of ['/', '/missing', '/nowhere'])
        expect(
          (await fetch(path, { headers: { origin: 'https://app.example' } })).headers.get(
            'access-control-allow-origin',
          ),
        ).to.equal('https://app.example')
    })

    it('sends an empty web Response with its status and a type', async () => {
      const { fetch } = await open(with_((ctx) => void (ctx.body = new Response(null, { status: 201 }))))
      const response = await fetch('/')
      expect([response.status, response.headers.get('content-type'), await response.text()]).to.deep.equal([
        201,
        'application/octet-stream',
        '',
      ])
    })

    it('koa-compress compresses what the handler returned', async () => {
      const { url } = await open(with_(compress({ threshold: 100 }) as Middleware))
      const response = await rawGet(`${url}/long`, { 'accept-encoding': 'gzip' })
      expect(response.headers['content-encoding']).to.equal('gzip')
      expect(JSON.parse(gunzipSync(response.body).toString())).to.deep.equal({ text: 'x'.repeat(4000) })
      expect((await rawGet(`${url}/`, { 'accept-encoding': 'gzip' })).headers['content-encoding']).to.equal(
        undefined,
      )
    })

    it('finds the response in ctx.body after next() and may change it', async () => {
      const shout: Middleware = async (ctx, next) => {
        await next()
        ctx.body = String(ctx.body).toUpperCase()
        ctx.set('X-Seen', `${ctx.status} ${ctx.type}`)
      }
      const { fetch } = await open(with_(shout))
      const response = await fetch('/text')
      expect(await response.text()).to.equal('PLAIN')
      expect(response.headers.get('x-seen')).to.equal('200 text/plain')
      expect(response.headers.get('content-type')).to.equal('text/plain; charset=utf-8')
    })

    it('leaves no length of a response that middleware outside replaces by a stream', async () => {
      const pass: Middleware = (_ctx, next) => next()
      const app = createApp()
        .use(async (_ctx, next) => Readable.from([`${String(await next())} and more`]))
        .use(fromKoa(pass))
        .use(routes())
      const { fetch } = await open(app)
      expect(await (await fetch('/text')).text()).to.equal('plain and more')
    })

    it('sees the value as it would be sent: filtered through its response schema', async () => {
      const seen: unknown[] = []
      const spy: Middleware = async (ctx, next) => {
        await next()
        seen.push(ctx.body)
      }
      const { fetch } = await open(with_(spy, spy))
      expect(await (await fetch('/filtered')).json()).to.deep.equal({ id: 1 })
      expect(seen).to.deep.equal([{ id: 1 }, { id: 1 }])
    })

    it('may respond instead of the handler', async () => {
      const own: Middleware = (ctx, next) => {
        if (ctx.path !== '/own') return next()
        ctx.status = 203
        ctx.body = { own: true }
        return undefined
      }
      const { fetch } = await open(with_(own))
      const response = await fetch('/own')
      expect(response.status).to.equal(203)
      expect(await response.json()).to.deep.equal({ own: true })
      expect((await fetch('/')).status).to.equal(200)
    })

    it('may change status and remove the body', async () => {
      const notModified: Middleware = async (ctx, next) => {
        await next()
        ctx.status = 304
        ctx.body = null
        ctx.status = 304
      }
      const { fetch } = await open(with_(notModified))
      const response = await fetch('/')
      expect(response.status).to.equal(304)
      expect(await response.text()).to.equal('')
    })

    it('keeps the status of ctx.throw, and of nothing else', async () => {
      const thrower: Middleware = (ctx) => {
        if (ctx.path === '/throw') ctx.throw(418, 'short and stout')
        throw Object.assign(new Error('driver'), { status: 404, statusCode: 404 })
      }
      const { fetch } = await open(with_(thrower))
      const thrown = await fetch('/throw')
      expect(thrown.status).to.equal(418)
      expect(await thrown.json()).to.include({ detail: 'short and stout', status: 418 })
      expect((await fetch('/other')).status).to.equal(500)
    })

    it('sees the same error object that Koa middleware inside it threw', async () => {
      const seen: unknown[] = []
      const outer: Middleware = async (ctx, next) => {
        await next().catch((error: unknown) => {
          seen.push(error instanceof HttpError, (error as { status?: number }).status)
          ctx.throw(410, 'said again')
        })
      }
      const inner: Middleware = (ctx) => ctx.throw(409, 'said once')
      const { fetch } = await open(with_(outer, inner))
      const response = await fetch('/')
      expect([response.status, ...seen]).to.deep.equal([410, true, 409])
    })

    it('runs in the order of its registration, with other middleware between', async () => {
      const order: string[] = []
      const koa =
        (name: string): Middleware =>
        async (_, next) => {
          order.push(name)
          await next()
          order.push(`${name} again`)
        }
      const app = createApp({ logger: false })
        .use(fromKoa(koa('a')))
        .use(fromKoa(koa('b')))
        .use(async (_, next) => {
          order.push('c')
          return next()
        })
        .use(fromKoa(koa('d')))
        .use(routes())
      const { fetch } = await open(app)
      expect(await (await fetch('/text')).text()).to.equal('plain')
      expect(order.join()).to.equal('a,b,c,d,d again,b again,a again')
    })

    it('gets an error with its name when it calls next() twice', async () => {
      const twice: Middleware = async (_, next) => {
        await next()
        await next()
      }
      const { fetch } = await open(with_((_, next) => next(), twice))
      const problem = (await (await fetch('/')).json()) as { status: number; detail: string }
      expect(problem.status).to.equal(500)
      expect(problem.detail).to.equal('next() was called twice in twice.')
    })

    it('responds although it calls next() a second time without waiting for it', async () => {
      const careless: Middleware = async (_, next) => {
        await next()
        void next()
      }
      const { fetch } = await open(with_((_, next) => next(), careless))
      expect(await (await fetch('/text')).text()).to.equal('plain')
    })

    it('sees the errors of the layers inside it, and may respond to them', async () => {
      const rescue: Middleware = async (ctx, next) => {
        try {
          await next()
        } catch (error) {
          ctx.status = 599
          ctx.body = { rescued: (error as Error).message }
        }
      }
      const { fetch } = await open(with_(rescue))
      const response = await fetch('/boom')
      expect(response.status).to.equal(599)
      expect(await response.json()).to.deep.equal({ rescued: 'boom' })
    })

    it('may respond after next() if nothing did; an error of a handler does not count', async () => {
      const fallback: Middleware = async (ctx, next) => {
        await next()
        if (ctx.status === 404 && ctx.path === '/page') ctx.body = 'the page'
      }
      const router = createRouter().get('/gone', () => {
        throw new NotFound('It was here.')
      })
      const { fetch } = await open(createApp().use(fromKoa(fallback)).use(router))
      expect(await (await fetch('/page')).text()).to.equal('the page')
      const missed = await fetch('/elsewhere')
      expect([missed.status, missed.headers.get('content-type')]).to.deep.equal([
        404,
        'application/problem+json',
      ])
      expect(await (await fetch('/gone')).json()).to.include({ detail: 'It was here.' })
    })

    it('does not change validated bodies and a status 201', async () => {
      const { fetch } = await open(with_(helmet(), cors() as Middleware, compress() as Middleware))
      const headers = { 'content-type': 'application/json' }
      const created = await fetch('/', { method: 'POST', headers, body: '{"name":"Ada"}' })
      expect(created.status).to.equal(201)
      expect(await created.json()).to.deep.equal({ name: 'Ada' })
      expect((await fetch('/', { method: 'POST', headers, body: '{}' })).status).to.equal(422)
    })

    it('passes on the form that koa-body has read, with and without files', async () => {
      const app = createApp().use(fromKoa(koaBody({ multipart: true })))
      const router = createRouter().post('/form', (ctx) => {
        const { title, file } = ctx.body as { title: string; file?: UploadedFile }
        return { title, size: file?.size ?? null, isFile: file instanceof UploadedFile }
      })
      const { fetch } = await open(app.use(router))
      const form = new FormData()
      form.set('title', 'Report')
      const send = async () => (await fetch('/form', { method: 'POST', body: form })).json()
      expect(await send()).to.deep.equal({ title: 'Report', size: null, isFile: false })
      form.set('file', new Blob(['12345']), 'five.txt')
      expect(await send()).to.deep.equal({ title: 'Report', size: 5, isFile: true })
    })

    it('mounts an existing @koa/router unchanged', async () => {
      const router = new Router()
      router.get('/legacy/:id', (ctx) => {
        ctx.body = { legacy: ctx.params['id'] }
      })
      const app = createApp().use(fromKoa(router)).use(routes())
      const { fetch } = await open(app)
      expect(await (await fetch('/legacy/7')).json()).to.deep.equal({ legacy: '7' })
      expect(await (await fetch('/')).json()).to.deep.equal({ hello: 'world' })
    })

    it('runs in front of the pipeline when used on app.koa', async () => {
      const app = createApp().use(routes())
      app.koa.use(async (ctx, next) => {
        ctx.set('X-Outside', 'yes')
        await next()
      })
      const { fetch } = await open(app)
      const response = await fetch('/')
      expect(response.headers.get('x-outside')).to.equal('yes')
      expect(await response.json()).to.deep.equal({ hello: 'world' })
    })

    const forgetful: Middleware = function forgetful(_ctx, next) {
      void next()
    }
    const slow = async () => {
      await turn()
      return 'slow'
    }
    for (const [environment, expected] of [
      ['development', [500, /next\(\) was called in forgetful and neither awaited nor returned/]],
      ['production', [200, /^slow$/]],
    ] as const)
      it(`is named when it does not wait for its next(), and loses no response in production: ${environment}`, async () => {
        const lines: string[] = []
        const settings = {
          environment,
          logger: recorder(lines),
          appUrl: 'https://a.example',
          logRequests: false,
        }
        const app = createApp(settings)
        for (const each of [(_, next) => next(), forgetful, (_, next) => next()] satisfies Middleware[])
          app.use(fromKoa(each))
        const { fetch } = await open(app.use(createRouter().get('/', slow)))
        const response = await fetch('/')
        expect(response.status).to.equal(expected[0])
        expect(await response.text()).to.match(expected[1])
        expect(lines.filter((line) => line.includes('in forgetful'))).to.have.length(1)
      })

    it('may respond by itself without waiting for its next()', async () => {
      for (const respond of [false, true]) {
        const own: Middleware = (ctx, next) => {
          ctx.respond = respond
          ctx.res.writeHead(200).end('own')
          void next()
        }
        const lines: string[] = []
        const app = createApp({ logger: recorder(lines), logRequests: false }).use(fromKoa(own))
        app.use(createRouter().get('/', slow))
        const { fetch } = await open(app)
        const response = await fetch('/')
        expect([response.status, await response.text()]).to.deep.equal([200, 'own'])
        expect(lines.filter((line) => line.includes('next()'))).to.deep.equal([])
      }
    })

    it('may end the response itself, and a body that it sets is ignored', async () => {
      const lines: string[] = []
      const ending: Middleware = (ctx) => void (ctx.res.end('own'), (ctx.body = 'late'))
      const app = createApp({ logger: recorder(lines), logRequests: false }).use(fromKoa(ending))
      expect(await (await (await open(app)).fetch('/')).text()).to.equal('own')
      expect(lines.filter((line) => line.startsWith('error'))).to.deep.equal([])
    })

    it('lets a handler respond in Koa style', async () => {
      const app = createApp().use(
        createRouter().get('/', (ctx) => {
          ctx.koa.status = 202
          ctx.koa.body = { koa: true }
        }),
      )
      const { fetch } = await open(app)
      const response = await fetch('/')
      expect(response.status).to.equal(202)
      expect(await response.json()).to.deep.equal({ koa: true })
    })
  })

  it('of another application wraps the whole of a mounted one', async () => {
    const inner = createApp().use(routes())
    const outer = new Koa()
    const seen: unknown[] = []
    outer.use(async (ctx, next) => {
      await next()
      seen.push([ctx.status, ctx.body])
    })
    outer.use(mount('/api', inner.koa))
    const server = createServer(outer.callback()).listen(0, '127.0.0.1')
    try {
      await once(server, 'listening')
      const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
      expect(await (await fetch(`${url}/api/`)).json()).to.deep.equal({ hello: 'world' })
      expect((await fetch(`${url}/api/missing`)).status).to.equal(404)
      expect(seen[0]).to.deep.equal([200, { hello: 'world' }])
    } finally {
      server.closeAllConnections()
      server.close()
      await inner.close()
    }
  })
})

/** A request without the automatic decoding of `fetch`. */
function rawGet(url: string, headers: Record<string, string>) {
  return new Promise<{ headers: Record<string, unknown>; body: Buffer }>((resolve, reject) => {
    get(url, { headers, agent: false }, (response) => {
      const chunks: Buffer[] = []
      response.on('data', (chunk: Buffer) => chunks.push(chunk))
      response.on('end', () => resolve({ headers: response.headers, body: Buffer.concat(chunks) }))
    }).on('error', reject)
  })
}
