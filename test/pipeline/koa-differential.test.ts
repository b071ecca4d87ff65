import { deepStrictEqual } from 'node:assert'
import { once } from 'node:events'
import { createReadStream } from 'node:fs'
import { createServer, type RequestListener, type Server } from 'node:http'
import { connect, type AddressInfo } from 'node:net'
import { PassThrough, Readable } from 'node:stream'
import { expect } from 'chai'
import Koa, { type Context, type Middleware } from 'koa'
import { createApp, createRouter, fromKoa, type App } from 'mortar'

/*
 * The same small Koa programs in plain Koa and in Mortar: as `fromKoa`, as `app.koa.use` and on `ctx.koa` in a handler,
 * each through both entry points. Compared are the bytes on the wire: status line, headers and body.
 */

type Program = Middleware | readonly Middleware[]

const after =
  (change: (ctx: Context) => unknown): Middleware =>
  async (ctx, next) => {
    await next()
    await change(ctx)
  }

const json: Middleware = (ctx) => {
  ctx.body = { hello: 'world' }
}
const text: Middleware = (ctx) => {
  ctx.body = 'hello'
}

/** Programs that respond the same everywhere. For HEAD of web bodies, Koa announces the length of `{}`: only GET is compared. */
const PROGRAMS: Record<string, Program> = {
  'a string': text,
  'a string that looks like HTML': (ctx) => void (ctx.body = '<p>hello</p>'),
  'an object': json,
  'an array': (ctx) => void (ctx.body = [1, 2]),
  'a number': (ctx) => void (ctx.body = 5),
  'a Buffer': (ctx) => void (ctx.body = Buffer.from('bytes')),
  'a stream': (ctx) => void (ctx.body = Readable.from(['one ', 'two'], { objectMode: false })),
  'a stream without an end': (ctx) => void (ctx.body = new PassThrough()),
  'a Blob': (ctx) => void (ctx.body = new Blob(['blob'], { type: 'text/plain' })),
  'a web Response': (ctx) =>
    void (ctx.body = new Response('web', { status: 202, headers: { 'x-web': '1' } })),
  'a web stream': (ctx) => void (ctx.body = new Blob(['streamed']).stream()),
  'an empty text': (ctx) => void (ctx.body = ''),
  'a status alone': (ctx) => void (ctx.status = 202),
  'a reason phrase of an earlier status': (ctx) => {
    ctx.message = 'Fine'
    ctx.status = 201
    ctx.body = { made: true }
  },
  'a reason phrase of a stream': (ctx) => {
    ctx.status = 200
    ctx.message = 'Streamed'
    ctx.body = Readable.from(['one'], { objectMode: false })
  },
  'a status of an error alone': (ctx) => void (ctx.status = 503),
  'a status and a string': (ctx) => {
    ctx.status = 201
    ctx.body = 'made'
  },
  null: (ctx) => void (ctx.body = null),
  'null with a status': (ctx) => {
    ctx.body = null
    ctx.status = 200
  },
  '204 after a body': (ctx) => {
    ctx.body = 'dropped'
    ctx.status = 204
  },
  '304 after a body': (ctx) => {
    ctx.body = { dropped: true }
    ctx.status = 304
  },
  'a message of its own': (ctx) => {
    ctx.status = 200
    ctx.message = 'Very Fine'
    ctx.body = 'x'
  },
  'a message without a body': (ctx) => {
    ctx.status = 200
    ctx.message = 'Very Fine'
  },
  'a type': (ctx) => {
    ctx.type = 'html'
    ctx.body = 'plain'
  },
  'a type that is not JSON with an object': (ctx) => {
    ctx.type = 'text/csv'
    ctx.body = { a: 1 }
  },
  'a type without a body': (ctx) => {
    ctx.status = 200
    ctx.type = 'application/javascript'
  },
  '204 with a stream that fails': (ctx) => {
    ctx.status = 204
    ctx.body = createReadStream('does-not-exist')
  },
  'a length on a stream': (ctx) => {
    ctx.body = Readable.from(['12345'], { objectMode: false })
    ctx.length = 5
  },
  'a length header on a stream': (ctx) => {
    ctx.body = Readable.from(['12345'], { objectMode: false })
    ctx.set('Content-Length', '5')
  },
  'Transfer-Encoding by hand': (ctx) => {
    ctx.set('Transfer-Encoding', 'chunked')
    ctx.body = 'chunked'
  },
  headers: (ctx) => {
    ctx.set({ 'X-One': '1', 'X-Two': ['2', '3'] })
    ctx.append('X-One', '4')
    ctx.vary('Accept')
    ctx.etag = 'abc'
    ctx.body = 'x'
  },
  'a header removed': (ctx) => {
    ctx.set('X-Gone', '1')
    ctx.body = 'x'
    ctx.remove('X-Gone')
    ctx.remove('Content-Type')
  },
  'a redirect': (ctx) => ctx.redirect('/elsewhere'),
  'a redirect with a status': (ctx) => {
    ctx.status = 301
    ctx.redirect('https://example.com/a b')
  },
  'an attachment': (ctx) => {
    ctx.attachment('paper.pdf')
    ctx.body = 'x'
  },
  'a cookie': (ctx) => {
    ctx.cookies.set('a', 'b')
    ctx.body = 'x'
  },
  'headers flushed before a string': (ctx) => {
    ctx.status = 200
    ctx.flushHeaders()
    ctx.body = 'late'
  },
  'headers flushed before a stream': (ctx) => {
    ctx.status = 200
    ctx.type = 'text/event-stream'
    ctx.flushHeaders()
    ctx.body = Readable.from(['data: 1\n\n'], { objectMode: false })
  },
  'a response that is written by hand': (ctx) => {
    ctx.respond = false
    ctx.res.statusCode = 203
    ctx.res.end('by hand')
  },
  'a response that is written by hand later': (ctx) => {
    ctx.respond = false
    setImmediate(() => ctx.res.writeHead(200).end('later'))
  },
  'a response that is ended by hand': (ctx) => {
    ctx.res.statusCode = 200
    ctx.res.end('ended')
  },
  'HTML after type': (ctx) => {
    ctx.body = '<b>1</b>'
    ctx.type = 'text'
  },
  freshness: (ctx) => {
    ctx.status = 200
    ctx.etag = 'one'
    ctx.body = ctx.fresh ? null : 'stale'
  },
  'what ctx reads': (ctx) => {
    ctx.body = [ctx.method, ctx.url, ctx.path, ctx.querystring, ctx.host, ctx.protocol, ctx.secure, ctx.ips]
  },
  'the state': (ctx) => {
    deepStrictEqual(ctx.state, {})
    Object.assign(ctx.state, { own: 1 })
    ctx.body = [ctx.state, Object.keys(ctx.state), Object.hasOwn(ctx, 'state')]
  },
  'a state that is replaced': [
    (ctx, next) => {
      ctx.state = { own: 1 }
      return next()
    },
    (ctx) => void (ctx.body = [ctx.state, { ...ctx.state }]),
  ],
  'a status read after a body': (ctx) => {
    ctx.body = 'x'
    ctx.set('X-Status', String(ctx.status))
  },
  'a body and its length read': [after((ctx) => ctx.set('X-Length', String(ctx.length))), json],
  'an envelope': [after((ctx) => void (ctx.body = { data: ctx.body })), json],
  'a change in place': [after((ctx) => void ((ctx.body as { more?: number }).more = 1)), json],
  'a string that is changed': [after((ctx) => void (ctx.body = String(ctx.body).toUpperCase())), text],
  'a string that is removed': [after((ctx) => void (ctx.body = null)), text],
  'a status that is changed': [after((ctx) => void (ctx.status = 203)), json],
  '204 after an inner body': [after((ctx) => void (ctx.status = 204)), json],
  'a stream that is wrapped': [
    after((ctx) => void (ctx.body = (ctx.body as Readable).pipe(new PassThrough()))),
    (ctx) => void (ctx.body = Readable.from(['a', 'b'], { objectMode: false })),
  ],
  'a status before next()': [
    async (ctx, next) => {
      ctx.status = 201
      await next()
    },
    json,
  ],
  'an error that is caught and replaced': [
    async (ctx, next) => {
      await next().catch((error: Error) => void (ctx.body = error.message))
    },
    () => {
      throw new Error('caught')
    },
  ],
  'next() twice, caught': [
    async (ctx, next) => {
      await next()
      await next().catch(() => ctx.set('X-Twice', 'yes'))
    },
    text,
  ],
  'synchronous middleware that does not wait for synchronous middleware': [(_ctx, next) => void next(), text],
}

const ONE_METHOD = new Map<Program | undefined, readonly string[]>([
  [PROGRAMS['a web Response'], ['GET']],
  [PROGRAMS['a web stream'], ['GET']],
  [PROGRAMS['a stream without an end'], ['HEAD']],
])

/** Programs whose response in a handler differs by a documented rule: a handler that returns nothing is 204. */
const NOT_IN_HANDLERS: Record<string, Program> = {
  nothing: () => undefined,
  'the status before anything is set': (ctx) => void (ctx.body = String(ctx.status)),
  undefined: (ctx) => void (ctx.body = undefined),
  'an error that is caught and forgotten': [
    async (_ctx, next) => void (await next().catch(() => undefined)),
    () => {
      throw new Error('forgotten')
    },
  ],
  'a status read in front of nothing': [
    async (ctx, next) => {
      ctx.set('X-Before', String(ctx.status))
      await next()
      ctx.set('X-After', String(ctx.status))
    },
    () => undefined,
  ],
}

type Way = (middleware: readonly Middleware[]) => App

const nothingInside = (app: App): App => app.use(createRouter().get('/*rest', () => undefined))

const WAYS: Record<string, Way> = {
  fromKoa(middleware) {
    const app = createApp({ logger: false })
    for (const one of middleware) app.use(fromKoa(one))
    return nothingInside(app)
  },
  'app.koa.use': (middleware) => {
    const app = createApp({ logger: false })
    for (const one of middleware) app.koa.use(one)
    return nothingInside(app)
  },
  'ctx.koa in a handler': (middleware) =>
    createApp({ logger: false }).use(
      createRouter().get('/*rest', async (ctx) => {
        const run = async (index: number): Promise<unknown> =>
          middleware[index]?.(
            ctx.koa,
            once_(() => run(index + 1)),
          )
        await run(0)
      }),
    ),
}

/** As koa-compose: a second call of `next()` is rejected. */
function once_(next: () => Promise<unknown>): () => Promise<unknown> {
  let called = false
  return () => {
    if (called) return Promise.reject(new Error('next() called multiple times'))
    called = true
    return next()
  }
}

describe('Koa programs', () => {
  const servers: Server[] = []
  const apps: App[] = []
  afterEach(async () => {
    for (const server of servers.splice(0)) {
      server.closeAllConnections()
      server.close()
    }
    await Promise.all(apps.splice(0).map((app) => app.close()))
  })

  const serve = async (listener: RequestListener): Promise<number> => {
    const server = createServer(listener).listen(0, '127.0.0.1')
    servers.push(server)
    await once(server, 'listening')
    return (server.address() as AddressInfo).port
  }

  const inKoa = async (program: readonly Middleware[]): Promise<number> => {
    const koa = new Koa()
    koa.silent = true
    for (const one of program) koa.use(one)
    return serve(koa.callback())
  }

  const compare = async (program: Program, way: Way): Promise<void> => {
    const middleware = [program].flat()
    const app = way(middleware)
    const mounted = way(middleware)
    apps.push(app, mounted)
    const plain = await inKoa(middleware)
    const listening = (await app.listen(0, '127.0.0.1')).port
    const callback = await serve(mounted.koa.callback())
    const methods = ONE_METHOD.get(program) ?? ['GET', 'HEAD']
    for (const method of methods) {
      const expected = await exchange(plain, method)
      expect(await exchange(listening, method), `${method} through listen()`).to.equal(expected)
      expect(await exchange(callback, method), `${method} through app.koa`).to.equal(expected)
    }
  }

  for (const [name, way] of Object.entries(WAYS))
    describe(`by ${name}`, () => {
      for (const [title, program] of Object.entries(PROGRAMS))
        it(`respond as in Koa: ${title}`, () => compare(program, way))
      if (way === WAYS['ctx.koa in a handler']) return
      for (const [title, program] of Object.entries(NOT_IN_HANDLERS))
        it(`respond as in Koa: ${title}`, () => compare(program, way))
    })
})

/** The complete response to one request, without the parts that differ by design: date, request id and ports. */
async function exchange(port: number, method: string): Promise<string> {
  const socket = connect(port, '127.0.0.1')
  socket.write(
    `${method} /some/path?a=1&b=2 HTTP/1.1\r\nHost: koa.example\r\nIf-None-Match: "one"\r\nAccept: text/html\r\nConnection: close\r\n\r\n`,
  )
  socket.setTimeout(15_000, () => socket.destroy(new Error('no response within 15 s')))
  const chunks: Buffer[] = []
  for await (const chunk of socket) chunks.push(chunk as Buffer)
  const [head = '', ...body] = Buffer.concat(chunks).toString('latin1').split('\r\n\r\n')
  const [status, ...headers] = head.split('\r\n')
  const kept = headers.filter((line) => !/^(date|x-request-id):/i.test(line)).toSorted()
  return [status, ...kept, '', ...body].join('\n')
}
