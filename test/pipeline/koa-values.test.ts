import { once } from 'node:events'
import { createReadStream } from 'node:fs'
import { Stream, Writable } from 'node:stream'
import { expect } from 'chai'
import { Router } from '@koa/router'
import type { Middleware as KoaMiddleware } from 'koa'
import {
  createApp,
  createRouter,
  fromKoa,
  fromKoaRouter,
  type Handler,
  type Middleware,
  type RouteDefinition,
} from 'mortar'
import { object, string } from 'yup'
import { throughBothAdapters } from '../support/adapters.ts'
import { bearer, tokens } from '../support/tokens-brick.ts'

/** The responses that middleware around a handler has seen, outermost last. */
const seen: string[] = []

/** Koa middleware that notes the response after its `next()`. */
const spy = (name: string): Middleware =>
  fromKoa(async (ctx, next) => {
    await next()
    seen.push(`${name} ${ctx.status} ${ctx.type || '-'} ${JSON.stringify(ctx.body)}`)
  })
const koa = (run: KoaMiddleware): Middleware => fromKoa(run)
const passing = koa((_, next) => next())

interface Case {
  /** Middleware, outermost first. */
  readonly around: readonly Middleware[]
  readonly handler: Handler
  readonly definition?: RouteDefinition
  readonly response: readonly [status: number, type: string | null, body: string]
  readonly seen?: readonly string[]
}

const JSON_TYPE = 'application/json; charset=utf-8'
const TEXT_TYPE = 'text/plain; charset=utf-8'
const replace: Middleware = async (_, next) => {
  await next()
  return { replaced: true }
}
const teapot: Middleware = async (ctx, next) => {
  const value: unknown = await next()
  ctx.status = 418
  return value
}
const csv: Handler = (ctx) => {
  ctx.set('Content-Type', 'text/csv')
  return 'a,b'
}

const CASES: Readonly<Record<string, Case>> = {
  'is replaced by middleware between Koa middleware, with its type and length': {
    around: [spy('outer'), replace, spy('inner')],
    handler: () => 'text',
    response: [200, JSON_TYPE, '{"replaced":true}'],
    seen: ['inner 200 text/plain "text"', 'outer 200 application/json {"replaced":true}'],
  },
  'is replaced by middleware outside all Koa middleware': {
    around: [replace, passing],
    handler: () => 'text',
    response: [200, JSON_TYPE, '{"replaced":true}'],
  },
  'is replaced by text, but keeps a type that the handler has set': {
    around: [async (_, next) => `${String(await next())},c`, passing],
    handler: csv,
    response: [200, 'text/csv', 'a,b,c'],
  },
  'keeps a type that the handler has set, for the Koa middleware outside': {
    around: [spy('outer'), async (_, next) => `${String(await next())},c`, passing],
    handler: csv,
    response: [200, 'text/csv', 'a,b,c'],
    seen: ['outer 200 text/csv "a,b,c"'],
  },
  'gets another status from middleware between': {
    around: [spy('outer'), teapot, spy('inner')],
    handler: () => ({ a: 1 }),
    response: [418, JSON_TYPE, '{"a":1}'],
    seen: ['inner 200 application/json {"a":1}', 'outer 418 application/json {"a":1}'],
  },
  'gets another status from middleware outside': {
    around: [teapot, passing],
    handler: () => ({ a: 1 }),
    response: [418, JSON_TYPE, '{"a":1}'],
  },
  'has the status that Koa middleware has set before the handler': {
    around: [
      koa((ctx, next) => {
        ctx.status = 202
        return next()
      }),
    ],
    handler: () => ({ a: 1 }),
    response: [202, JSON_TYPE, '{"a":1}'],
  },
  'that is null has no reason phrase as its body': {
    around: [passing],
    handler(ctx) {
      ctx.status = 202
      ctx.set('Content-Type', 'application/json')
      return null
    },
    response: [202, null, ''],
  },
  'that is nothing has no type': {
    around: [spy('outer')],
    handler(ctx) {
      ctx.set('Content-Type', 'text/csv')
    },
    response: [204, null, ''],
    seen: ['outer 204 - null'],
  },
  'keeps the type of the handler although Koa middleware had set a body': {
    around: [
      koa((ctx, next) => {
        ctx.body = 'early'
        return next()
      }),
    ],
    handler(ctx) {
      ctx.set('Content-Type', 'application/x-rows')
      return { a: 1 }
    },
    response: [200, 'application/x-rows', '{"a":1}'],
  },
  'that cannot be sent is an error that Koa middleware can catch': {
    around: [
      koa(async (ctx, next) => {
        try {
          await next()
        } catch {
          ctx.body = 'caught'
        }
      }),
    ],
    handler: () => ({ number: 1n }),
    response: [200, TEXT_TYPE, 'caught'],
  },
  'is there after next() although its schema is asynchronous': {
    around: [spy('outer')],
    definition: { response: { 200: object({ name: string().test(async () => true) }) } },
    handler: async () => ({ name: 'Ada', secret: 1 }),
    response: [200, JSON_TYPE, '{"name":"Ada"}'],
    seen: ['outer 200 application/json {"name":"Ada"}'],
  },
  'is a 404 when Koa middleware catches an error and sets nothing': {
    around: [koa((_, next) => next().catch(() => undefined))],
    handler: () => Promise.reject(new Error('broken')),
    response: [404, TEXT_TYPE, 'Not Found'],
  },
  'has no status of Koa where middleware responds instead of Koa middleware inside it': {
    around: [
      async (ctx, next) => {
        const value = await next()
        seen.push(String(ctx.status))
        return value
      },
      async (_ctx, next) => (await next()) ?? 'found',
      koa(() => undefined),
    ],
    handler: () => 'not asked',
    response: [200, 'text/plain; charset=utf-8', 'found'],
    seen: ['200'],
  },
  'has the status 200 when the handler writes it to the response itself': {
    around: [passing],
    handler({ koa: { res } }) {
      res.end('raw')
    },
    response: [200, null, 'raw'],
  },
}

describe('A value between Koa middleware and others', () => {
  beforeEach(() => void seen.splice(0))
  throughBothAdapters((open) => {
    for (const [name, { around, handler, definition = {}, response, seen: expected }] of Object.entries(
      CASES,
    ))
      it(name, async () => {
        const app = createApp({ logger: false })
        for (const each of around) app.use(each)
        const { fetch } = await open(app.use(createRouter().get('/', definition, handler)))
        const found = await fetch('/')
        expect([found.status, found.headers.get('content-type'), await found.text()]).to.deep.equal(response)
        if (expected !== undefined) expect(seen).to.deep.equal(expected)
      })

    it('may be a stream that cannot be read, and the response ends', async () => {
      for (const unread of [new Writable(), Object.assign(new Stream(), { readable: false })]) {
        const { fetch } = await open(createApp().use(koa((ctx) => void (ctx.body = unread))))
        const signal = AbortSignal.timeout(120_000)
        const response = await fetch('/', { signal }).catch((error: unknown) => error)
        expect(response).to.include({ status: 200 })
      }
    })

    it('is the signed-in user in ctx.state for a Koa application around it', async () => {
      const users: unknown[] = []
      const app = createApp({ logger: false }).use(tokens())
      app.koa.use(async (ctx, next) => {
        await next()
        users.push((ctx.state as { readonly user?: { readonly id: string } }).user?.id)
      })
      app.use(createRouter().get('/', { auth: true }, () => null))
      const { fetch } = await open(app)
      expect((await fetch('/', { headers: bearer('ada') })).status).to.equal(204)
      expect(users).to.deep.equal(['ada'])
    })

    it('needs no ctx.state, which Koa middleware may have removed', async () => {
      const app = createApp({ logger: false }).use(tokens())
      app.koa.use((ctx, next) => {
        ctx.state = null
        return next()
      })
      app.use(createRouter().get('/', ({ koa: { state } }) => ({ state })))
      const router = new Router().get('/adopted', (ctx) => void (ctx.body = { state: ctx.state as unknown }))
      const { fetch } = await open(app.use(fromKoaRouter(router, { auth: false })))
      for (const path of ['/', '/adopted'])
        for (const headers of [{}, bearer('ada')])
          expect(await (await fetch(path, { headers })).json(), path).to.deep.equal({ state: null })
    })

    it('is the user that Koa middleware has set, beside a signed-in one', async () => {
      const app = createApp({ logger: false }).use(tokens())
      app.koa.use((ctx, next) => {
        ctx.state['user'] = { id: 'of a session' }
        return next()
      })
      app.use(createRouter().get('/', { auth: true }, ({ koa: { state } }) => state['user']))
      const { fetch } = await open(app)
      const response = await fetch('/', { headers: bearer('ada') })
      expect(await response.json()).to.deep.equal({ id: 'of a session' })
    })

    it('is the signed-in user for a handler that is the first to ask for the Koa context', async () => {
      const app = createApp({ logger: false }).use(tokens())
      app.use(createRouter().get('/', { auth: true }, ({ koa: { state } }) => state['user']))
      const { fetch } = await open(app)
      expect(await (await fetch('/', { headers: bearer('ada') })).json()).to.include({ id: 'ada' })
    })
  })
})

describe('A stream in the ctx.body of Koa that is not sent', () => {
  const reasons: Readonly<Record<string, KoaMiddleware>> = {
    'of an error': () => {
      throw new Error('after the body')
    },
    'its status has no body': (ctx) => void (ctx.status = 204),
  }
  throughBothAdapters((open) => {
    for (const [reason, act] of Object.entries(reasons))
      it(`is closed because ${reason}`, async () => {
        const file = createReadStream(import.meta.filename)
        const app = createApp({ logger: false }).use(
          fromKoa((ctx, next) => {
            ctx.body = file
            return act(ctx, next)
          }),
        )
        const { fetch } = await open(app)
        await (await fetch('/')).text()
        if (!file.closed) await once(file, 'close')
      })
  })
})
