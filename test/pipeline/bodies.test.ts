import { existsSync } from 'node:fs'
import { connect } from 'node:net'
import { setTimeout as delay } from 'node:timers/promises'
import { brotliCompressSync, constants, deflateSync, gzipSync } from 'node:zlib'
import { expect } from 'chai'
import { createApp, createRouter, file, type Handler } from 'mortar'
import { array, number, object, string } from 'yup'
import { throughBothAdapters, type ServedApp } from '../support/adapters.ts'
import { rawRequest } from '../support/raw-request.ts'

type Body = NonNullable<RequestInit['body']>

const paths: string[] = []

const fastBrotli = (text: string): Buffer =>
  brotliCompressSync(text, { params: { [constants.BROTLI_PARAM_QUALITY]: 1 } })

const routes = () =>
  createRouter()
    .post('/echo', (ctx) => ({ body: ctx.body === undefined ? 'undefined' : ctx.body }))
    .post('/declared', { body: object({ name: string().required() }) }, (ctx) => ctx.body)
    .post('/form', { consumes: ['multipart/form-data'] }, (ctx) => ctx.body)
    .post('/small', { bodyLimit: 10 }, (ctx) => ({ body: ctx.body }))
    .post('/json', { consumes: ['application/json'] }, (ctx) => ({ body: ctx.body }))
    .post('/stream', { consumes: [] }, async (ctx) => {
      let size = 0
      for await (const chunk of ctx.koa.req) size += (chunk as Buffer).length
      return { size }
    })
    .post('/bytes', (ctx) => (Buffer.isBuffer(ctx.body) ? ctx.body.toString('hex') : 'no'))
    .post('/upload', { body: object({ title: string().required(), file: file().required() }) }, (ctx) => {
      paths.push(ctx.body.file.filepath)
      return { title: ctx.body.title, size: ctx.body.file.size, there: existsSync(ctx.body.file.filepath) }
    })
    .post(
      '/:id',
      {
        params: object({ id: number().required() }),
        query: object({ page: number().required() }),
        headers: object({ 'x-tenant': string().required() }),
        body: object({ items: array(object({ qty: number().required() })).required() }),
      },
      (ctx) => [ctx.params.id, ctx.query.page, ctx.headers['x-tenant'], ctx.body.items[0]?.qty],
    )

describe('A body', () => {
  throughBothAdapters((open) => {
    const serve = () => open(createApp({ logger: false }).use(routes()))
    const post = (
      { fetch }: ServedApp,
      path: string,
      body: Body | undefined,
      headers: Record<string, string> = {},
    ) => fetch(path, { method: 'POST', headers, ...(body === undefined ? {} : { body }) })
    const json = { 'content-type': 'application/json' }

    it('is read as JSON, form, text or bytes by its media type', async () => {
      const served = await serve()
      const echo = async (body: Body | undefined, headers?: Record<string, string>) =>
        ((await (await post(served, '/echo', body, headers)).json()) as { body: unknown }).body
      expect(await echo('{"a":[1]}', json)).to.deep.equal({ a: [1] })
      expect(await echo('[]', { 'content-type': 'application/vnd.api+json; charset=utf-8' })).to.deep.equal(
        [],
      )
      expect(await echo('"text"', json)).to.equal('text')
      for (const type of [
        'Application/JSON',
        'application/json ; charset=UTF-8',
        'application/problem+JSON;charset="utf8"',
        'application/json; charset=us-ascii',
      ])
        expect(await echo('{"a":1}', { 'content-type': type }), type).to.deep.equal({ a: 1 })
      expect(await echo('null', json)).to.equal(null)
      expect(await echo('', json)).to.equal('undefined')
      expect(await echo(undefined)).to.equal('undefined')
      expect(await echo('héllo', { 'content-type': 'text/plain' })).to.equal('héllo')
      expect(
        await echo(
          new URLSearchParams([
            ['a', '1'],
            ['b', '2'],
            ['b', '3'],
          ]),
        ),
      ).to.deep.equal({ a: '1', b: ['2', '3'] })
      for (const type of ['application/octet-stream', 'application/octet-stream; charset=binary']) {
        const response = await post(served, '/bytes', new Uint8Array([0, 255]), { 'content-type': type })
        expect(await response.text(), type).to.equal('00ff')
      }
    })

    it('is read with each method that has one, and not with GET', async () => {
      const echo: Handler = ({ body, method }) => ({ method, body })
      const router = createRouter().post('/', echo).put('/', echo).patch('/', echo).delete('/', echo)
      const app = createApp({ logger: false }).use(router.get('/', echo))
      const { url } = await open(app)
      for (const method of ['POST', 'PUT', 'PATCH', 'DELETE', 'GET']) {
        const head = `${method} / HTTP/1.1\r\nHost: x\r\nConnection: close\r\nContent-Length: 7\r\n`
        const sent = `${head}Content-Type: application/json\r\n\r\n{"a":1}`
        const { text } = await rawRequest(Number(new URL(url).port), sent)
        const body = method === 'GET' ? '' : ',"body":{"a":1}'
        expect(text).to.contain(`{"method":"${method}"${body}}`)
      }
    })

    it('of an unknown type is not read if no body is declared, and is 415 if one is', async () => {
      const served = await serve()
      const strange = { 'content-type': 'application/x-strange' }
      expect(await (await post(served, '/echo', 'x', strange)).json()).to.deep.equal({ body: 'undefined' })
      const refused = await post(served, '/declared', 'x', strange)
      const readable = 'application/json, application/x-www-form-urlencoded, text/*'
      expect([refused.status, refused.headers.get('accept')]).to.deep.equal([415, readable])
      expect(await refused.json()).to.include({
        detail: `The media type 'application/x-strange' is not supported by this route; send ${readable}.`,
      })
      const response = await post(served, '/json', 'a=1', {
        'content-type': 'application/x-www-form-urlencoded',
      })
      expect(response.status).to.equal(415)
      expect(response.headers.get('accept')).to.equal('application/json')
      expect(await (await post(served, '/stream', '12345', json)).json()).to.deep.equal({ size: 5 })
    })

    it('of a declared type is read in any case of letters, of the request and of the route', async () => {
      const router = createRouter().post('/', { consumes: ['Application/JSON', 'Text/*'] }, ({ body }) => ({
        body,
      }))
      const served = await open(createApp({ logger: false }).use(router))
      for (const [type, body, read] of [
        ['application/json', '1', 1],
        ['APPLICATION/JSON', '1', 1],
        ['text/plain', '1', '1'],
        ['Text/Plain', '1', '1'],
      ] as const)
        expect(await (await post(served, '/', body, { 'content-type': type })).json()).to.deep.equal({
          body: read,
        })
    })

    it('that is missing is undefined where one is declared, not a body of an unknown type', async () => {
      const served = await serve()
      expect((await post(served, '/declared', undefined)).status).to.equal(422)
      expect(await (await post(served, '/json', undefined)).json()).to.deep.equal({})
    })

    it('that is malformed causes a 4xx that does not quote it', async () => {
      const served = await serve()
      const form = 'multipart/form-data'
      const broken: readonly (readonly [Body, Record<string, string>, number, path?: string])[] = [
        ['{"secret":', json, 400],
        ['{"a":1} x', json, 400],
        ['not gzip', { ...json, 'content-encoding': 'gzip' }, 400],
        ['{}', { ...json, 'content-encoding': 'compress' }, 415],
        ['{}', { 'content-type': 'application/json; charset=utf-16' }, 415],
        ['x', { 'content-type': form }, 400, '/form'],
        [
          '--b\r\ncontent-disposition: form-data; name="a"\r\n\r\nsec',
          { 'content-type': `${form}; boundary=b` },
          400,
          '/form',
        ],
        ['garbage', { 'content-type': `${form}; boundary=b` }, 400, '/form'],
      ]
      for (const [body, headers, status, path = '/echo'] of broken) {
        const response = await post(served, path, body, headers)
        expect(response.status, `${String(body)} ${JSON.stringify(headers)}`).to.equal(status)
        expect(await response.text()).to.not.contain('secret')
      }
    })

    it('is decoded, and its limit applies to the decoded bytes', async () => {
      const served = await serve()
      for (const [encoding, encode] of [
        ['gzip', gzipSync],
        ['deflate', deflateSync],
        ['br', fastBrotli],
      ] as const) {
        const response = await post(served, '/echo', encode('{"z":1}'), {
          ...json,
          'content-encoding': encoding,
        })
        expect(await response.json()).to.deep.equal({ body: { z: 1 } })
        const bomb = encode(`"${'x'.repeat(3_000_000)}"`)
        expect(
          (await post(served, '/echo', bomb, { ...json, 'content-encoding': encoding })).status,
        ).to.equal(413)
      }
    })

    it('that is too large is 413, with or without Content-Length', async () => {
      const served = await serve()
      expect((await post(served, '/small', '"123456789"', json)).status).to.equal(413)
      expect((await post(served, '/small', '"1234567"', json)).status).to.equal(200)
      const chunked = new Blob(['"123456789"']).stream()
      const init = { method: 'POST', headers: json, body: chunked, duplex: 'half' } as RequestInit
      expect((await served.fetch('/small', init)).status).to.equal(413)
    })

    it('cannot reach a prototype', async () => {
      const served = await serve()
      for (const text of ['{"__proto__":{"polluted":1},"a":1}', '{"\\u005f_proto__":{"polluted":1},"a":1}']) {
        const response = await post(served, '/echo', text, json)
        expect(await response.json()).to.deep.equal({ body: { a: 1 } })
      }
      const hostile = '{"name":"x","constructor":1,"toString":2,"__proto__":3,"hasOwnProperty":4}'
      expect((await post(served, '/declared', hostile, json)).status).to.be.oneOf([200, 422])
      expect(
        (
          await post(
            served,
            '/echo',
            new URLSearchParams([
              ['__proto__[x]', '1'],
              ['constructor', '2'],
            ]),
          )
        ).status,
      ).to.equal(200)
      expect(({} as Record<string, unknown>)['polluted']).to.equal(undefined)
    })

    it('of a form has its files beside its fields, and they are deleted afterwards', async () => {
      const served = await serve()
      const form = new FormData()
      form.set('title', 'Report')
      form.set('file', new Blob(['hello']), '../../etc/passwd')
      const response = await post(served, '/upload', form)
      expect(await response.json()).to.deep.equal({ title: 'Report', size: 5, there: true })
      await eventually(() => !existsSync(paths.at(-1)!))
      const large = new FormData()
      large.set('file', new Blob(['x'.repeat(2_000_000)]), 'large')
      expect((await post(served, '/upload', large)).status).to.equal(413)
      const missing = new FormData()
      missing.set('title', 'No file')
      expect((await post(served, '/upload', missing)).status).to.equal(422)
    })

    it('is validated together with all other inputs, and every issue is reported', async () => {
      const served = await serve()
      const response = await post(served, '/x?page=one', '{"items":[{"qty":"many"}]}', json)
      expect(response.status).to.equal(422)
      const problem = (await response.json()) as {
        code: string
        errors: { location: string; path: string }[]
      }
      expect(problem.code).to.equal('validation_failed')
      expect(problem.errors.map(({ location, path }) => `${location} ${path}`)).to.have.members([
        'params id',
        'query page',
        'headers x-tenant',
        'body items[0].qty',
      ])
      const good = await post(served, '/7?page=2', '{"items":[{"qty":3}]}', { ...json, 'x-tenant': 't' })
      expect(await good.json()).to.deep.equal([7, 2, 't', 3])
    })

    it('that breaks off does not affect other requests', async () => {
      const served = await serve()
      const { port } = new URL(served.url)
      for (let round = 0; round < 5; round++) {
        const socket = connect(Number(port), '127.0.0.1')
        socket.write(
          'POST /declared HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\nContent-Length: 100\r\n\r\n{"a"',
        )
        await eventually(() => socket.bytesWritten > 0)
        socket.destroy()
      }
      expect((await post(served, '/echo', '{}', json)).status).to.equal(200)
    })
  })
})

async function eventually(holds: () => boolean): Promise<void> {
  for (let round = 0; round < 2000 && !holds(); round++) await delay(5)
  expect(holds()).to.equal(true)
}
