import { connect } from 'node:net'
import { setTimeout as wait } from 'node:timers/promises'
import { expect } from 'chai'
import { createApp, createRouter, fromKoa } from 'mortar'
import { mixed, object, string } from 'yup'
import { deferred } from '../support/deferred.ts'
import { throughBothAdapters } from '../support/adapters.ts'
import { bearer, tokens } from '../support/tokens-brick.ts'

const FORM = 'application/x-www-form-urlencoded'
const MULTIPART = 'multipart/form-data; boundary=B'

const consumes = ['application/json', FORM, 'multipart/form-data', 'text/*']

const routes = () =>
  createRouter()
    .post('/echo', { consumes }, (ctx) => ({ body: ctx.body ?? 'none' }))
    .post('/declared', { consumes, body: object({ a: string().required() }) }, (ctx) => ctx.body)
    .post('/guarded', { auth: true, body: mixed() }, () => 'answered')

const part = (head: string, content: string) =>
  `--B\r\nContent-Disposition: form-data${head}\r\n\r\n${content}\r\n`
const field = (name: string, value: string) => part(`; name="${name}"`, value)
const nested = (open: string, close: string, depth: number) => open.repeat(depth) + close.repeat(depth)

describe('A hostile body', () => {
  throughBothAdapters((open) => {
    const serve = async () => {
      const { fetch } = await open(createApp({ logger: false }).use(tokens()).use(routes()))
      return (path: string, type: string, body: string | Uint8Array<ArrayBuffer>, headers = {}) =>
        fetch(path, { method: 'POST', body, headers: { 'content-type': type, ...headers } })
    }

    it('that is not UTF-8 is 400, as JSON, text and form', async () => {
      const post = await serve()
      const overlong = Uint8Array.from([34, 0xc0, 0xaf, 34])
      for (const type of ['application/json', 'text/plain', FORM]) {
        const response = await post('/echo', type, overlong)
        expect([response.status, ((await response.json()) as { code: string }).code]).to.deep.equal([
          400,
          'malformed_body',
        ])
      }
    })

    it('that is nested more than a thousand levels deep is 400; brackets in a string do not count', async () => {
      const post = await serve()
      for (const deep of [
        nested('[', ']', 1001),
        nested('{"a":[', ']}', 600),
        nested('[', ']', 400_000),
        '['.repeat(400_000),
        `{"a":"x","__proto__":${nested('[', ']', 100_000)}}`,
      ])
        for (const path of ['/echo', '/declared'])
          expect((await post(path, 'application/json', deep)).status).to.equal(400)
      for (const shallow of [nested('[', ']', 900), JSON.stringify(`\\"${'['.repeat(5000)}`)])
        expect((await post('/echo', 'application/json', shallow)).status).to.equal(200)
    })

    it('loses only the keys that are names of a prototype', async () => {
      const post = await serve()
      const names = ['__proto__', 'constructor', 'toString', 'hasOwnProperty', '__proto__', 'constructor']
      const multipart = `${names.map((name) => field(name, 'x')).join('')}${field('a', 'kept')}--B--\r\n`
      const urlencoded = `${names.map((name) => `${name}=x`).join('&')}&a=kept`
      for (const [type, body] of [
        [MULTIPART, multipart],
        [FORM, urlencoded],
      ] as const) {
        expect(await (await post('/declared', type, body)).json()).to.deep.equal({ a: 'kept' })
        const echo = (await (await post('/echo', type, body)).json()) as { body: object }
        expect(Object.keys(echo.body)).not.to.include('__proto__')
      }
    })

    it('of a form has strings and lists, never objects', async () => {
      const post = await serve()
      const response = await post('/echo', FORM, 'a=1&a=2&b[c]=3&=4&d')
      expect(await response.json()).to.deep.equal({ body: { a: ['1', '2'], 'b[c]': '3', '': '4', d: '' } })
    })

    const refused: readonly (readonly [string, string, string, Record<string, string>, number])[] = [
      [
        'an unknown transfer encoding',
        MULTIPART,
        part('; name="a"\r\nContent-Transfer-Encoding: x', ''),
        {},
        400,
      ],
      ['a boundary that never comes', MULTIPART, 'nothing', {}, 400],
      ['no boundary', 'multipart/form-data', field('a', '1'), {}, 400],
      ['an end in the middle', MULTIPART, field('a', '1').slice(0, 30), {}, 400],
      ['a content encoding', MULTIPART, `${field('a', '1')}--B--\r\n`, { 'content-encoding': 'gzip' }, 415],
      ['bytes that do not decode', FORM, 'a=1', { 'content-encoding': 'gzip' }, 400],
      ['an unknown content encoding', FORM, 'a=1', { 'content-encoding': 'constructor' }, 415],
      ['a foreign charset', `${FORM}; charset=iso-8859-1`, 'a=%E9', {}, 415],
    ]
    for (const [name, type, body, headers, status] of refused)
      it(`of a form is rejected for ${name}: ${status}`, async () => {
        const post = await serve()
        expect((await post('/declared', type, body, headers)).status).to.equal(status)
      })

    it('that is far too large gets a response instead of a reset connection', async () => {
      const post = await serve()
      for (let times = 0; times < 5; times++)
        for (const type of ['application/json', FORM, MULTIPART])
          expect((await post('/declared', type, new Uint8Array(8 * 1024 * 1024))).status).to.equal(413)
    })

    it('does not keep the request open if its client disconnects while the guard runs', async () => {
      const end = deferred<string>()
      const asking = deferred()
      const user = deferred<{ id: string; raw: object }>()
      const identify = () => {
        asking.resolve()
        return user.promise
      }
      const app = createApp({ logger: false })
        .use(tokens({}, { identify } as never))
        .use(async (_ctx, next) => next().catch((error: Error) => end.resolve(error.name)))
        .use(routes())
      const { url } = await open(app)
      const socket = connect(Number(new URL(url).port), '127.0.0.1')
      const head = `POST /guarded HTTP/1.1\r\nHost: x\r\nAuthorization: ${bearer('ada').authorization}\r\n`
      socket.write(`${head}Content-Type: application/json\r\nContent-Length: 100\r\n\r\n{"half`)
      await asking.promise
      socket.destroy()
      await wait(20)
      user.resolve({ id: 'ada', raw: {} })
      expect(await end.promise).to.equal('BadRequest')
    })

    it('that Koa middleware has read is used from ctx.request.body', async () => {
      const reader = fromKoa(async (ctx, next) => {
        let text = ''
        for await (const chunk of ctx.req) text += String(chunk)
        Object.assign(ctx.request, { body: JSON.parse(text) as unknown })
        await next()
      })
      const { fetch } = await open(createApp({ logger: false }).use(tokens()).use(reader).use(routes()))
      const post = (path: string, body: string) =>
        fetch(path, { method: 'POST', body, headers: { 'content-type': 'application/json' } })
      expect(await (await post('/declared', '{"a":"x"}')).json()).to.deep.equal({ a: 'x' })
      expect((await post('/declared', '{}')).status).to.equal(422)
      expect(await (await post('/echo', '{"b":1}')).json()).to.deep.equal({ body: { b: 1 } })
    })

    it('that middleware has read and discarded is a 500, not a request that never ends', async () => {
      const waster = fromKoa(async (ctx, next) => {
        for await (const _chunk of ctx.req);
        await next()
      })
      const { fetch } = await open(createApp({ logger: false }).use(tokens()).use(waster).use(routes()))
      const headers = { 'content-type': 'application/json' }
      expect((await fetch('/echo', { method: 'POST', body: '{}', headers })).status).to.equal(500)
    })
  })
})
