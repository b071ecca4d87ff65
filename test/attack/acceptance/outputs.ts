import { Conflict, createRouter, defineBrick, scoped, singleton, TooManyRequests } from 'mortar'
import { number, object } from 'yup'
import { JSON_TYPE, TEXT_TYPE, type Case } from './case.ts'

/** Every kind of value, error and member of ctx. */
export const outputs = () =>
  createRouter()
    .get('/object', () => ({ a: 1 }))
    .get('/array', () => [])
    .get('/number', () => 0)
    .get('/false', () => false)
    .get('/html', () => '<b>')
    .get('/typed', (ctx) => {
      ctx.type = 'html'
      return '<b>'
    })
    .get('/null', () => null)
    .get('/created', (ctx) => {
      ctx.status = 201
      return { id: 1 }
    })
    .get('/teapot', (ctx) => void (ctx.status = 418))
    .get('/bytes', () => Buffer.from('bytes'))
    .get('/stream', () => pieces())
    .get('/web', () => new Response('web', { status: 203, headers: { 'x-web': 'yes' } }))
    .get('/filtered', { response: { 200: object({ id: number().required() }) } }, () => ({
      id: 1,
      secret: 'x',
    }))
    .get('/mismatch', { response: { 200: object({ id: number().required() }) } }, () => {
      // The types refuse both this value and that of `/other`.
      return { id: 'x', secret: 'x' } as never
    })
    .get('/other', { response: { 201: object({ id: number().required() }) } }, () => ({ any: 1 }) as never)
    .get('/conflict', (ctx) => {
      ctx.set('X-Kept', 'yes')
      ctx.set('ETag', '"1"')
      throw new Conflict('It is taken.', { code: 'name_taken', extensions: { name: 'x' } })
    })
    .get('/busy', () => {
      throw new TooManyRequests(7)
    })
    .get('/driver', () => {
      throw Object.assign(new Error('connection lost'), { status: 404, expose: true })
    })
    .get('/redirect', (ctx) => ctx.redirect('/there?a=b%26c'))
    .get('/moved', (ctx) => ctx.redirect('/there', 308))
    .get('/cookies', (ctx) => {
      ctx.cookies.set('a', '1')
      ctx.append('Set-Cookie', 'b=2')
    })
    .get('/service', (ctx) => ctx.services['greeting'])
    .get('/member', (ctx) => ctx['greet'])
    .get('/nothing', (ctx) => ctx['unknown'] === undefined)

async function* pieces() {
  yield 'one '
  yield 'two'
}

export const OUTPUTS: readonly Case[] = [
  {
    ask: 'GET /object',
    status: 200,
    is: { a: 1 },
    head: { 'content-type': JSON_TYPE, 'content-length': '7' },
  },
  { ask: 'HEAD /object', status: 200, is: '', head: { 'content-type': JSON_TYPE, 'content-length': '7' } },
  { ask: 'GET /array', status: 200, is: [] },
  { ask: 'GET /number', status: 200, is: 0, head: { 'content-type': JSON_TYPE } },
  { ask: 'GET /false', status: 200, is: false },
  { ask: 'GET /html', status: 200, is: '<b>', head: { 'content-type': TEXT_TYPE } },
  { ask: 'GET /typed', status: 200, head: { 'content-type': 'text/html; charset=utf-8' } },
  { ask: 'GET /null', status: 204, is: '', head: { 'content-type': null, 'content-length': null } },
  { ask: 'GET /created', status: 201, is: { id: 1 } },
  { ask: 'GET /teapot', status: 418, is: '', head: { 'content-length': '0' } },
  { ask: 'GET /bytes', status: 200, is: 'bytes', head: { 'content-type': 'application/octet-stream' } },
  { ask: 'GET /stream', status: 200, is: 'one two' },
  { ask: 'HEAD /stream', status: 200, is: '' },
  { ask: 'GET /web', status: 203, is: 'web', head: { 'x-web': 'yes' } },
  { ask: 'GET /filtered', status: 200, is: { id: 1 } },
  { ask: 'GET /mismatch', status: 500, has: { code: 'response_mismatch' } },
  { ask: 'GET /other', status: 200, is: { any: 1 } },
  {
    ask: 'GET /conflict',
    status: 409,
    has: { code: 'name_taken', detail: 'It is taken.', name: 'x', type: 'about:blank' },
    head: { 'x-kept': 'yes', etag: null },
  },
  {
    ask: 'GET /conflict',
    headers: { 'x-request-id': 'mine-1' },
    status: 409,
    has: { instance: 'mine-1' },
    head: { 'x-request-id': 'mine-1' },
  },
  {
    ask: 'GET /conflict',
    headers: { 'x-request-id': 'a b"c' },
    status: 409,
    head: { 'x-request-id': /^[\w-]+$/ },
  },
  { ask: 'GET /busy', status: 429, head: { 'retry-after': '7' } },
  { ask: 'GET /driver', status: 500, has: { detail: 'connection lost', code: 'internal_error' } },
  { ask: 'GET /redirect', status: 302, head: { location: '/there?a=b%26c' } },
  { ask: 'GET /moved', status: 308, head: { location: '/there' } },
  { ask: 'GET /cookies', status: 204, head: { 'set-cookie': /a=1.*b=2/ } },
  { ask: 'GET /service', status: 200, is: 'hello' },
  { ask: 'GET /member', status: 200, is: 'hello GET' },
  { ask: 'GET /nothing', status: 200, is: true },
]

export const greeter = () =>
  defineBrick({
    name: 'greeter',
    services: { greeting: singleton(() => 'hello'), caller: scoped(({ ctx }) => ctx.method) },
    members: { greet: (services) => `${services.greeting} ${services.caller}` },
  })
