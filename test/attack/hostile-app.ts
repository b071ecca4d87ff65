import { Readable } from 'node:stream'
import { createApp, createRouter, file, fromKoa, queryBoolean, type App } from 'mortar'
import { array, date, mixed, number, object, string } from 'yup'
import { z } from 'zod'
import { tokens } from '../support/tokens-brick.ts'

const item = object({
  name: string().required().max(40),
  qty: number().integer().min(0).required(),
  tags: array(string().required()),
  when: date(),
  nested: object({ text: string(), deep: object({ n: number() }) }),
})

/** Every kind of input and response that a route can declare, with and without a guard. */
const routes = () =>
  createRouter()
    .get('/', () => 'hello')
    .get('/json', () => ({ a: 1 }))
    .get(
      '/search',
      { query: object({ q: string(), n: number(), tag: array(string()), on: queryBoolean() }) },
      (ctx) => ctx.query,
    )
    .get('/raw', (ctx) => ({
      query: ctx.query,
      token: ctx.token,
      ip: ctx.ip,
      cookie: ctx.cookies.get('a') ?? null,
    }))
    .get('/users/:id', { params: object({ id: number().required() }) }, (ctx) => ctx.params)
    .get('/users/:id/files/*path', (ctx) => ctx.params)
    .get('/files/*path', (ctx) => ctx.params)
    .get(
      '/headers',
      { headers: object({ 'x-tenant': string().required(), 'x-n': number() }) },
      (ctx) => ctx.headers['x-n'] ?? 0,
    )
    .get('/zod', { query: z.object({ n: z.coerce.number() }) }, (ctx) => ctx.query)
    .get('/stream', () => Readable.from(['a', 'b', 'c']))
    .get('/me', { auth: true }, (ctx) => ctx.user.id)
    .get('/admin', { auth: 'admin' }, () => 'secret')
    .get('/shown', { response: { 200: object({ a: number().required() }) } }, () => ({ a: 1, hidden: 2 }))
    .post('/items', { body: item, response: { 201: item } }, (ctx) => {
      ctx.status = 201
      return ctx.body
    })
    .put(
      '/items/:id',
      { auth: true, params: object({ id: number().required() }), body: item },
      (ctx) => ctx.body,
    )
    .patch('/mixed', { body: mixed(), bodyLimit: 4096 }, (ctx) => ctx.body)
    .post('/zod', { body: z.record(z.string(), z.unknown()) }, (ctx) => ctx.body)
    .post(
      '/form',
      { consumes: ['multipart/form-data', 'application/x-www-form-urlencoded'], bodyLimit: '64kb' },
      (ctx) => ctx.body,
    )
    .post(
      '/upload',
      {
        body: object({ a: string(), file: file({ maxSize: 100, types: ['text/*'] }), all: array(file()) }),
        bodyLimit: '64kb',
        multipart: { maxFields: 3, maxFiles: 2, maxHeaderSize: 200 },
      },
      (ctx) => ({ a: ctx.body.a, size: ctx.body.file?.size }),
    )
    .post('/echo', (ctx) => ({ body: ctx.body ?? null }))
    .delete('/items/:id', (ctx) => ctx.params)

/** The application that the hostile requests go to. */
export function hostileApp(): App {
  return createApp({ logger: false, trustProxy: ['127.0.0.1'] })
    .use(tokens({ admin: (user) => user.id === 'admin' }))
    .use(fromKoa((_ctx, next) => next()))
    .use(routes())
}
