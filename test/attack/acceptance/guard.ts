import { createRouter, NotFound } from 'mortar'
import { number, object } from 'yup'
import { bearer } from '../../support/tokens-brick.ts'
import { cookie, json, type Case } from './case.ts'

/** Every kind of guard. */
export const guarded = () =>
  createRouter()
    .get('/public', (ctx) => ({ user: ctx.user?.id ?? null, token: ctx.token }))
    .get('/open', { auth: false }, () => 'open')
    .get('/private', { auth: true }, (ctx) => ctx.user.id)
    .get('/admin', { auth: 'admin' }, () => 'secret')
    .get('/both', { auth: ['admin', 'late'] }, () => 'secret')
    .get('/own/:id', { auth: 'self' }, (ctx) => ctx.params.id)
    .get('/broken', { auth: 'broken' }, () => 'secret')
    .get('/hidden', { auth: 'hidden' }, () => 'secret')
    .get('/loose', { auth: 'truthy' }, () => 'secret')
    .post(
      '/private',
      { auth: true, body: object({ a: number().required() }), params: object() },
      () => 'done',
    )
    .post('/open', () => 'sent')

export const POLICIES = {
  admin: (user: { id: string }) => user.id === 'admin',
  late: async (user: { id: string }) => user.id.startsWith('a'),
  self: (user: { id: string }, ctx: { params: Readonly<Record<string, string>> }) =>
    ctx.params.id === user.id,
  truthy: () => 'yes' as unknown as boolean,
  broken: () => {
    throw new Error('no response')
  },
  hidden: () => {
    throw new NotFound()
  },
}

const PLAIN = 'Bearer'
const INVALID = 'Bearer error="invalid_token"'
export const GUARD: readonly Case[] = [
  { ask: 'GET /public', status: 200, is: { user: null, token: null } },
  { ask: 'GET /public', headers: bearer('ada'), status: 200, is: { user: 'ada', token: 'ada' } },
  { ask: 'GET /public', headers: bearer('bad'), status: 200, is: { user: null, token: 'bad' } },
  { ask: 'GET /public', headers: bearer('broken'), status: 200, is: { user: null, token: 'broken' } },
  { ask: 'GET /public?access_token=q', status: 200, is: { user: 'q', token: 'q' } },
  { ask: 'GET /public?access_token=', status: 200, is: { user: null, token: null } },
  {
    ask: 'GET /public',
    headers: { authorization: 'Basic abc' },
    status: 200,
    is: { user: null, token: null },
  },
  {
    ask: 'GET /public',
    headers: { authorization: 'bearer ada' },
    status: 200,
    is: { user: 'ada', token: 'ada' },
  },
  { ask: 'GET /open', status: 200, is: 'open' },
  { ask: 'GET /private', status: 401, has: { code: 'unauthorized' }, head: { 'www-authenticate': PLAIN } },
  { ask: 'HEAD /private', status: 401, is: '', head: { 'www-authenticate': PLAIN } },
  { ask: 'OPTIONS /private', status: 204, head: { allow: 'GET, HEAD, POST, OPTIONS' } },
  { ask: 'DELETE /private', status: 405 },
  {
    ask: 'GET /private',
    headers: bearer('bad'),
    status: 401,
    has: { code: 'invalid_token' },
    head: { 'www-authenticate': INVALID },
  },
  { ask: 'GET /private', headers: bearer('not a token'), status: 200, is: 'not a token' },
  { ask: 'GET /private', headers: { ...bearer('bad'), ...cookie('ada') }, status: 401 },
  { ask: 'GET /private', headers: { authorization: 'Bearer', ...cookie('ada') }, status: 200, is: 'ada' },
  { ask: 'GET /private', headers: cookie('ada'), status: 200, is: 'ada' },
  { ask: 'GET /private?access_token=bad', headers: cookie('ada'), status: 200, is: 'ada' },
  {
    ask: 'GET /private?access_token=ada',
    headers: cookie('bad'),
    status: 401,
    head: { 'www-authenticate': INVALID },
  },
  { ask: 'GET /private', headers: bearer('broken'), status: 500 },
  { ask: 'GET /private', headers: bearer('async-ada'), status: 200, is: 'async-ada' },
  { ask: 'GET /admin', status: 401 },
  { ask: 'GET /admin', headers: bearer('ada'), status: 403, has: { code: 'policy_denied', policy: 'admin' } },
  { ask: 'GET /admin', headers: bearer('admin'), status: 200, is: 'secret' },
  { ask: 'HEAD /admin', headers: bearer('ada'), status: 403, is: '' },
  { ask: 'GET /both', headers: bearer('ada'), status: 403, has: { policy: 'admin' } },
  { ask: 'GET /both', headers: bearer('admin'), status: 200 },
  { ask: 'GET /own/ada', headers: bearer('ada'), status: 200, is: 'ada' },
  { ask: 'GET /own/bob', headers: bearer('ada'), status: 403 },
  { ask: 'GET /own/%61da', headers: bearer('ada'), status: 200 },
  { ask: 'GET /broken', headers: bearer('ada'), status: 500 },
  { ask: 'GET /hidden', headers: bearer('ada'), status: 404 },
  { ask: 'GET /loose', headers: bearer('ada'), status: 403 },
  { ask: 'POST /private', send: '{', headers: json, status: 401 },
  { ask: 'POST /private', send: '{', headers: { ...json, ...bearer('ada') }, status: 400 },
  { ask: 'POST /private', send: '{}', headers: { ...json, ...bearer('ada') }, status: 422 },
  { ask: 'POST /private', send: '{"a":1}', headers: { ...json, ...bearer('ada') }, status: 200 },
  { ask: 'POST /private', send: '{"a":1}', headers: { ...json, ...cookie('ada') }, status: 200 },
  {
    ask: 'POST /private',
    send: '{"a":1}',
    headers: { ...json, ...cookie('ada'), origin: 'https://evil.example' },
    status: 403,
    has: { code: 'cross_site_request' },
  },
  {
    ask: 'POST /private',
    send: '{"a":1}',
    headers: { ...json, ...cookie('ada'), origin: 'null' },
    status: 403,
  },
  {
    ask: 'POST /private',
    send: '{"a":1}',
    headers: { ...json, ...bearer('ada'), origin: 'https://evil.example' },
    status: 200,
  },
  { ask: 'POST /open', headers: { ...cookie('ada'), origin: 'https://evil.example' }, status: 403 },
  { ask: 'GET /private', headers: { ...cookie('ada'), origin: 'https://evil.example' }, status: 200 },
  { ask: 'GET /nowhere', headers: bearer('bad'), status: 404 },
]
