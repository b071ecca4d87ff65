import { createHmac } from 'node:crypto'
import { connect } from 'node:net'
import { gzipSync } from 'node:zlib'
import { expect } from 'chai'
import type { Middleware as KoaMiddleware } from 'koa'
import { createApp, createRouter, fromKoa, type RouteDefinition } from 'mortar'
import { number, object } from 'yup'
import { throughBothAdapters, type ServedApp } from '../support/adapters.ts'
import { deferred } from '../support/deferred.ts'

const startOf = async (definition: RouteDefinition, method: 'get' | 'post' = 'post'): Promise<unknown> => {
  const app = createApp({ logger: false }).use(createRouter()[method]('/hook', definition, () => 'ok'))
  return app.inject('/').then(
    () => undefined,
    (error: unknown) => error,
  )
}

describe('A route with rawBody', () => {
  throughBothAdapters((open) => {
    const serve = (definition: RouteDefinition = {}): Promise<ServedApp> => {
      const router = createRouter()
        .post('/hook', { rawBody: true, ...definition } as { rawBody: true }, (ctx) => ({
          raw: ctx.rawBody.toString('latin1'),
          isBuffer: Buffer.isBuffer(ctx.rawBody),
          body: ctx.body,
        }))
        .post('/other', (ctx) => ({ hasRaw: 'rawBody' in ctx }))
      return open(createApp({ logger: false }).use(router))
    }
    const post = (type: string | undefined, body: string | Buffer, headers: Record<string, string> = {}) => ({
      method: 'POST',
      body: typeof body === 'string' ? Buffer.from(body) : body,
      headers: { ...(type === undefined ? {} : { 'Content-Type': type }), ...headers },
    })

    const bodies: readonly (readonly [string | undefined, string, unknown])[] = [
      ['application/json', '{ "a" : 1.0,\n"b":"\\u00e9" }', { a: 1, b: 'é' }],
      ['application/json', ' ', undefined],
      ['application/x-www-form-urlencoded', 'a=1&a=%32&b=+', { a: ['1', '2'], b: ' ' }],
      ['text/plain', 'a\r\nb', 'a\r\nb'],
      ['application/octet-stream; charset=binary', 'ab', { type: 'Buffer', data: [97, 98] }],
      ['application/pdf', '%PDF\0', undefined],
      [undefined, 'untyped', undefined],
      ['multipart/form-data; boundary=x', '--x--', undefined],
    ]
    it('has the exact bytes beside the parsed body, for any content type', async () => {
      const { fetch } = await serve()
      for (const [type, sent, body] of bodies) {
        const response = await fetch('/hook', post(type, sent))
        const expected = { raw: sent, isBuffer: true, ...(body === undefined ? {} : { body }) }
        expect(await response.json(), type).to.deep.equal(expected)
      }
    })

    it('has empty bytes for a request without a body', async () => {
      const { fetch } = await serve()
      const response = await fetch('/hook', { method: 'POST' })
      expect(await response.json()).to.deep.equal({ raw: '', isBuffer: true })
    })

    it('verifies a signature over the bytes', async () => {
      const sign = (bytes: Buffer): string => createHmac('sha256', 'key').update(bytes).digest('hex')
      const app = createApp({ logger: false }).use(
        createRouter().post('/', { rawBody: true, body: object({ n: number().required() }) }, (ctx) => ({
          isSigned: sign(ctx.rawBody) === ctx.get('X-Signature'),
          n: ctx.body.n,
        })),
      )
      const { fetch } = await open(app)
      const body = '{"n":  7}'
      const headers = { 'X-Signature': sign(Buffer.from(body)) }
      const response = await fetch('/', post('application/json', body, headers))
      expect(await response.json()).to.deep.equal({ isSigned: true, n: 7 })
    })

    it('has the decoded bytes of a compressed body', async () => {
      const { fetch } = await serve()
      const headers = { 'Content-Encoding': 'gzip' }
      const response = await fetch('/hook', post('application/json', gzipSync('{"a":1}'), headers))
      expect(await response.json()).to.include({ raw: '{"a":1}' })
    })

    it('keeps the limit, the media types and the syntax of bodies', async () => {
      const { fetch } = await serve({ bodyLimit: 8, consumes: ['application/json'] })
      const statusOf = async (init: RequestInit) => (await fetch('/hook', init)).status
      expect(await statusOf(post('application/json', '{"a":12}'))).to.equal(200)
      expect(await statusOf(post('application/json', '{"a":123}'))).to.equal(413)
      expect(
        await statusOf(post('application/json', gzipSync('"aaaaaaaaaaaa"'), { 'Content-Encoding': 'gzip' })),
      ).to.equal(413)
      expect(await statusOf(post('text/plain', 'a'))).to.equal(415)
      expect(await statusOf(post('application/json; charset=iso-8859-1', '{}'))).to.equal(415)
      expect(await statusOf(post('application/json', '{'))).to.equal(400)
    })

    it('keeps the limit for a chunked body', async () => {
      const { fetch } = await serve({ bodyLimit: 8 })
      const body = new Blob(['123456789']).stream()
      expect((await fetch('/hook', { method: 'POST', body, duplex: 'half' })).status).to.equal(413)
    })

    it('never runs for an aborted upload', async () => {
      let runs = 0
      const gone = deferred()
      const app = createApp({ logger: false }).use(createRouter().post('/', { rawBody: true }, () => ++runs))
      app.use(async (_ctx, next) => {
        try {
          return await next()
        } finally {
          gone.resolve()
        }
      })
      const { url } = await open(app)
      const socket = connect(Number(new URL(url).port), '127.0.0.1')
      socket.write('POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 100\r\n\r\n{"a"', () => socket.destroy())
      await gone.promise
      expect(runs).to.equal(0)
    })

    it('leaves other routes without the member', async () => {
      const { fetch } = await serve()
      const response = await fetch('/other', post('application/json', '{}'))
      expect(await response.json()).to.deep.equal({ hasRaw: false })
    })

    it('is a clear error behind a body parser of Koa', async () => {
      const parser: KoaMiddleware = async (ctx, next) => {
        const chunks: Buffer[] = []
        for await (const chunk of ctx.req) chunks.push(chunk as Buffer)
        Object.assign(ctx.request, { body: JSON.parse(Buffer.concat(chunks).toString()) as unknown })
        return next()
      }
      const app = createApp({ logger: false })
        .use(fromKoa(parser))
        .use(createRouter().post('/hook', { rawBody: true }, (ctx) => ctx.rawBody))
      const { fetch } = await open(app)
      const response = await fetch('/hook', post('application/json', '{}'))
      expect(response.status).to.equal(500)
      expect(((await response.json()) as { detail: string }).detail).to.match(
        /^POST \/hook \(router \/\) declares `rawBody`, but a middleware has read the body before/,
      )
    })
  })

  it('works with inject', async () => {
    const app = createApp({ logger: false }).use(
      createRouter().put('/', { rawBody: true }, (ctx) => ctx.rawBody.toString()),
    )
    const response = await app.inject({
      method: 'PUT',
      url: '/',
      payload: '{"a": 1}',
      headers: { 'content-type': 'application/json' },
    })
    expect(response.body).to.equal('{"a": 1}')
    await app.close()
  })

  const faults: readonly (readonly [string, RouteDefinition, 'get' | 'post', string])[] = [
    ['GET', { rawBody: true }, 'get', 'MORTAR_ROUTE_BODY_NOT_ALLOWED'],
    ['a value that is not a boolean', { rawBody: 'yes' as never }, 'post', 'MORTAR_ROUTE_VALUE'],
    ['multipart', { rawBody: true, consumes: ['multipart/form-data'] }, 'post', 'MORTAR_RAW_BODY'],
    ['an empty consumes', { rawBody: true, consumes: [] }, 'post', 'MORTAR_RAW_BODY'],
  ]
  for (const [what, definition, method, code] of faults)
    it(`stops the start for ${what}`, async () => {
      expect(String(await startOf(definition, method))).to.contain(`[${code}]`)
    })
})
