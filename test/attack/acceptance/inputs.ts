import { createRouter, queryBoolean } from 'mortar'
import { array, boolean, number, object, string } from 'yup'
import { json, form, type Case } from './case.ts'

/** Every place of an input, with and without a schema. */
export const inputs = () =>
  createRouter()
    .get('/raw', (ctx) => ctx.query)
    .get(
      '/typed',
      {
        query: object({ n: number(), tag: array(string().required()), on: queryBoolean(), flag: boolean() }),
      },
      (ctx) => ctx.query,
    )
    .get('/wanted', { query: object({ a: number().required(), b: string().required() }) }, (ctx) => ctx.query)
    .get('/param/:id', { params: object({ id: number().integer().min(1).required() }) }, (ctx) => ctx.params)
    .get('/header', { headers: object({ 'x-n': number().required() }) }, (ctx) => ctx.headers['x-n'])
    .post('/any', (ctx) => ({ body: ctx.body ?? 'none', type: typeof ctx.body }))
    .post(
      '/order',
      { body: object({ items: array(object({ qty: number().required() })).required(), note: string() }) },
      (ctx) => ctx.body,
    )
    .post('/small', { bodyLimit: 20, body: object({ a: string() }) }, (ctx) => ctx.body)
    .post(
      '/all/:id',
      {
        params: object({ id: number().required() }),
        query: object({ q: number().required() }),
        headers: object({ 'x-h': number().required() }),
        body: object({ b: number().required() }),
      },
      () => 'ok',
    )

const order = (value: unknown): Pick<Case, 'send' | 'headers'> => ({
  send: JSON.stringify(value),
  headers: json,
})
const issue = (location: string, path: string) => ({ location, path })

export const INPUTS: readonly Case[] = [
  { ask: 'GET /raw?a=1&a=2&b=x', status: 200, is: { a: ['1', '2'], b: 'x' } },
  { ask: 'GET /raw', status: 200, is: {} },
  { ask: 'GET /raw?constructor=1&toString=2', status: 200, is: { constructor: '1', toString: '2' } },
  { ask: 'GET /raw?a=%zz', status: 200 },
  { ask: 'GET /typed?tag=a', status: 200, is: { tag: ['a'] } },
  { ask: 'GET /typed?tag=a&tag=b', status: 200, is: { tag: ['a', 'b'] } },
  { ask: 'GET /typed?n=1.5', status: 200, is: { n: 1.5 } },
  { ask: 'GET /typed?n=-3', status: 200, is: { n: -3 } },
  ...['0x10', 'NaN', 'Infinity', '1e999', 'x', '1&n=2'].map((n) => ({
    ask: `GET /typed?n=${n}`,
    status: 422,
    has: { code: 'validation_failed' },
  })),
  ...['true', '1', 'yes', 'on'].map((on) => ({ ask: `GET /typed?on=${on}`, status: 200, is: { on: true } })),
  ...['false', '0', 'no', 'off'].map((on) => ({
    ask: `GET /typed?on=${on}`,
    status: 200,
    is: { on: false },
  })),
  { ask: 'GET /typed?on=maybe', status: 422 },
  { ask: 'GET /typed?flag=false', status: 200, is: { flag: false } },
  { ask: 'GET /typed?__proto__=1&constructor=2', status: 200 },
  { ask: 'GET /wanted', status: 422, has: { status: 422, title: 'Validation failed' } },
  { ask: 'GET /param/5', status: 200, is: { id: 5 } },
  ...['0', 'x', '1.5', '%20', '-1', '__proto__'].map((id) => ({ ask: `GET /param/${id}`, status: 422 })),
  { ask: 'GET /header', status: 422 },
  { ask: 'GET /header', headers: { 'x-n': '4' }, status: 200, is: 4 },
  { ask: 'GET /header', headers: { 'X-N': 'four' }, status: 422 },
  { ask: 'POST /any', status: 200, is: { body: 'none', type: 'undefined' } },
  {
    ask: 'POST /any',
    send: 'text',
    headers: { 'content-type': 'text/plain' },
    status: 200,
    is: { body: 'text', type: 'string' },
  },
  {
    ask: 'POST /any',
    send: 'a=1&a=2',
    headers: form,
    status: 200,
    is: { body: { a: ['1', '2'] }, type: 'object' },
  },
  {
    ask: 'POST /any',
    send: '{"a":1}',
    headers: { 'content-type': 'application/vnd.x+json' },
    status: 200,
    is: { body: { a: 1 }, type: 'object' },
  },
  {
    ask: 'POST /any',
    send: '<a/>',
    headers: { 'content-type': 'application/xml' },
    status: 200,
    is: { body: 'none', type: 'undefined' },
  },
  { ask: 'POST /any', send: '{"a":', headers: json, status: 400, has: { code: 'malformed_body' } },
  { ask: 'POST /any', send: '', headers: json, status: 200, is: { body: 'none', type: 'undefined' } },
  { ask: 'POST /any', send: 'null', headers: json, status: 200 },
  { ask: 'POST /any', send: '5', headers: json, status: 200, is: { body: 5, type: 'number' } },
  {
    ask: 'POST /any',
    send: 'x'.repeat(1024 * 1024 + 1),
    headers: { 'content-type': 'text/plain' },
    status: 413,
    has: { code: 'payload_too_large' },
  },
  { ask: 'POST /order', ...order({ items: [{ qty: 1 }] }), status: 200, is: { items: [{ qty: 1 }] } },
  {
    ask: 'POST /order',
    ...order({ items: [{ qty: 1 }, { qty: 'x' }] }),
    status: 422,
    has: { errors: [issue('body', 'items[1].qty')] },
  },
  {
    ask: 'POST /order',
    ...order({ items: [{}], note: {} }),
    status: 422,
    has: { errors: [issue('body', 'items[0].qty'), issue('body', 'note')] },
  },
  { ask: 'POST /order', ...order([]), status: 422 },
  { ask: 'POST /order', ...order(null), status: 422 },
  { ask: 'POST /order', status: 422 },
  {
    ask: 'POST /order',
    send: '<a/>',
    headers: { 'content-type': 'application/xml' },
    status: 415,
    has: { code: 'unsupported_media_type' },
  },
  {
    ask: 'POST /order',
    send: '{}',
    headers: { 'content-type': 'application/json; charset=utf-16' },
    status: 415,
  },
  {
    ask: 'POST /order',
    send: '{"items":[{"qty":1}],"__proto__":{"note":"x"},"constructor":1}',
    headers: json,
    status: 200,
  },
  { ask: 'POST /small', send: '{"a":"x"}', headers: json, status: 200, is: { a: 'x' } },
  { ask: 'POST /small', send: '{"a":"xxxxxxxxxxxxxxxxxxx"}', headers: json, status: 413 },
  {
    ask: 'POST /all/x?q=y',
    ...order({ b: 'z' }),
    status: 422,
    has: {
      errors: [issue('params', 'id'), issue('query', 'q'), issue('headers', 'x-h'), issue('body', 'b')],
    },
  },
]
