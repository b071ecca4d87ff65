import { expect } from 'chai'
import { createApp, createRouter, fromKoa, type RouteDefinition } from 'mortar'
import { array, lazy, mixed, object, string } from 'yup'
import { z } from 'zod'
import { throughBothAdapters } from '../support/adapters.ts'
import { disposition, multipart, MULTIPART_B } from '../support/multipart.ts'
import { rawRequest } from '../support/raw-request.ts'

const NUL = 'must not contain the character U+0000'
const HALF = 'must not contain half of a surrogate pair'
const KEY = 'must not have a key that contains the character U+0000'

/** Schemas that accept every string: of yup compiled and not compiled, and of another library. */
const SCHEMAS: Readonly<Record<string, NonNullable<RouteDefinition['body']>>> = {
  yup: object({ a: string(), list: array(object({ b: string() })) }),
  'yup with a lazy part': object({ a: string(), list: lazy(() => array(object({ b: string() }))) }),
  'yup.mixed()': mixed(),
  zod: z.object({ a: z.string().optional(), list: z.array(z.looseObject({})).optional() }),
}

const REFUSED: readonly (readonly [json: string, path: string, message: string])[] = [
  [String.raw`{"a":"x\u0000y"}`, 'a', `a ${NUL}`],
  [String.raw`{"list":[{"b":"x"},{"b":"\u0000"}]}`, 'list[1].b', `list[1].b ${NUL}`],
  [String.raw`{"other":{"c":"\u0000"}}`, 'other.c', `other.c ${NUL}`],
  [String.raw`{"list":[{"b\u0000":1}]}`, 'list[0]', `list[0] ${KEY}`],
  [String.raw`{"\u0000":1}`, '', `this ${KEY}`],
  [String.raw`{"a":"\ud83d"}`, 'a', `a ${HALF}`],
  [String.raw`{"a":"\uDE00\uD83D"}`, 'a', `a ${HALF}`],
  [String.raw`{"a":"\udc00"}`, 'a', `a ${HALF}`],
  [String.raw`{"a":"\uDFFF"}`, 'a', `a ${HALF}`],
]

const ACCEPTED: readonly string[] = [
  String.raw`{"a":"\ud83d\ude00 \t\n\u0001\u001f"}`,
  String.raw`{"a":"\\u0000 \\ud800"}`,
  '{"a":"😀 é 漢"}',
  '{}',
]

describe('A string with U+0000 or half of a surrogate pair', () => {
  throughBothAdapters((open) => {
    const serve = (definition: RouteDefinition, path = '/') => {
      const router = createRouter().post(path, definition, ({ body, params, query }) => ({
        body,
        params,
        query,
      }))
      return open(createApp({ environment: 'test' }).use(router))
    }
    const send = async (url: string, body?: string, type = 'application/json') => {
      const response = await fetch(url, {
        method: 'POST',
        headers: { 'Content-Type': type },
        body: body ?? null,
      })
      const { errors, ...rest } = (await response.json()) as { errors?: object[] }
      return { status: response.status, errors, rest }
    }

    for (const [library, body] of Object.entries(SCHEMAS))
      it(`is an issue of a JSON body with a schema of ${library}`, async () => {
        const { url } = await serve({ body })
        for (const [json, path, message] of REFUSED) {
          const { status, errors } = await send(url, json)
          expect(status, json).to.equal(422)
          expect(errors, json).to.deep.equal([{ location: 'body', path, rule: 'characters', message }])
        }
        for (const json of ACCEPTED) expect((await send(url, json)).status, json).to.equal(200)
      })

    it('is an issue of a body that is one string', async () => {
      const { url } = await serve({ body: string(), consumes: ['application/json', 'text/plain'] })
      const issue = [{ location: 'body', path: '', rule: 'characters', message: `this ${NUL}` }]
      expect((await send(url, String.raw`"\u0000"`)).errors).to.deep.equal(issue)
      expect((await send(url, 'x\0', 'text/plain')).errors).to.deep.equal(issue)
    })

    it('is an issue of a form, of its names too', async () => {
      const { url } = await serve({ body: object({ a: string() }) })
      const type = 'application/x-www-form-urlencoded'
      const a = [{ location: 'body', path: 'a', rule: 'characters', message: `a ${NUL}` }]
      expect((await send(url, 'a=x%00', type)).errors).to.deep.equal(a)
      expect((await send(url, 'a=x\0', type)).errors).to.deep.equal(a)
      expect((await send(url, 'a=1&b%00=1', type)).errors).to.deep.equal([
        { location: 'body', path: '', rule: 'characters', message: `this ${KEY}` },
      ])
    })

    it('is an issue of a multipart field', async () => {
      const { url } = await serve({ body: object({ a: string() }), consumes: ['multipart/form-data'] })
      const form = multipart([disposition('name="a"'), 'x\0y'], [disposition('name="f"; filename="f"'), '\0'])
      expect((await send(url, form, MULTIPART_B)).errors).to.deep.equal([
        { location: 'body', path: 'a', rule: 'characters', message: `a ${NUL}` },
      ])
    })

    it('is an issue of the query and of a path parameter, beside the issues of the body', async () => {
      const definition = {
        params: object({ id: string().required() }),
        query: object({ q: string() }),
        body: object({ a: string().required() }),
      }
      const { url } = await serve(definition, '/:id')
      expect((await send(`${url}/x%00?q=%00&q2%00`, '{}')).errors).to.deep.equal([
        { location: 'params', path: 'id', rule: 'characters', message: `id ${NUL}` },
        { location: 'query', path: 'q', rule: 'characters', message: `q ${NUL}` },
        { location: 'query', path: '', rule: 'characters', message: `this ${KEY}` },
        { location: 'body', path: 'a', rule: 'required', message: 'a is a required field' },
      ])
    })

    it('is an issue of a body that Koa middleware has parsed', async () => {
      const router = createRouter().post('/', { body: object({ a: string() }) }, ({ body }) => body)
      const parser = fromKoa(async (ctx, next) => {
        const chunks: Buffer[] = []
        for await (const chunk of ctx.req) chunks.push(chunk as Buffer)
        ctx.request.body = JSON.parse(Buffer.concat(chunks).toString())
        await next()
      })
      const { url } = await open(createApp({ environment: 'test' }).use(parser).use(router))
      expect((await send(url, String.raw`{"a":"\u0000"}`)).errors).to.deep.equal([
        { location: 'body', path: 'a', rule: 'characters', message: `a ${NUL}` },
      ])
    })

    it('reaches a handler without a schema', async () => {
      const { url } = await serve({})
      const { rest } = await send(`${url}/?q=%00`, String.raw`{"a":"\u0000\ud800"}`)
      expect(rest).to.deep.include({ body: { a: '\0\ud800' }, query: { q: '\0' } })
    })

    it('is a 400 of Node in a header', async () => {
      const { url } = await serve({ headers: object({ 'x-a': string() }) })
      const request = 'POST / HTTP/1.1\r\nHost: x\r\nX-A: x\0\r\nConnection: close\r\n\r\n'
      expect(await rawRequest(Number(new URL(url).port), request)).to.include({ status: 400 })
    })

    it('costs at most as many issues as any other', async () => {
      const { url } = await serve({ body: mixed() })
      const { status, errors } = await send(url, JSON.stringify(Array.from({ length: 1000 }, () => '\0')))
      expect([status, errors?.length]).to.deep.equal([422, 20])
    })
  })
})
