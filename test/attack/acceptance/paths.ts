import { createRouter } from 'mortar'
import { JSON_TYPE, TEXT_TYPE, PROBLEM, type Case } from './case.ts'

/** Every form of path and method. */
export const paths = () =>
  createRouter()
    .get('/', () => 'root')
    .get('/users', () => 'all')
    .post('/users', () => 'made')
    .get('/users/me', () => 'me')
    .get('/users/:id', (ctx) => `user ${ctx.params.id}`)
    .patch('/users/:id', () => 'patched')
    .get('/users/:id/posts', (ctx) => `posts ${ctx.params.id}`)
    .get('/users/me/settings', () => 'settings')
    .get('/files/*path', (ctx) => `rest ${ctx.params.path}`)
    .get('/files/readme', () => 'readme')
    .get('/files/:name/meta', (ctx) => `meta ${ctx.params.name}`)
    .head('/own-head', (ctx) => ctx.set('X-Head', 'own'))
    .get('/own-head', () => 'get')
    .options('/own-options', () => 'own')
    .get('/own-options', () => 'get')
    .get('/caf%C3%A9', () => 'coffee')
    .delete('/users/:id', () => undefined)
    .put('/only-put', () => 'put')

export const PATHS: readonly Case[] = [
  { ask: 'GET /', status: 200, is: 'root', head: { 'content-type': TEXT_TYPE, 'content-length': '4' } },
  { ask: 'GET /users', status: 200, is: 'all' },
  { ask: 'GET /users/', status: 200, is: 'all' },
  { ask: 'GET /users//', status: 404 },
  { ask: 'GET //users', status: 404 },
  { ask: 'GET /Users', status: 404 },
  { ask: 'POST /users', status: 200, is: 'made' },
  { ask: 'GET /users/me', status: 200, is: 'me' },
  { ask: 'GET /users/%6De', status: 200, is: 'me' },
  { ask: 'GET /users/Me', status: 200, is: 'user Me' },
  { ask: 'GET /users/me/', status: 200, is: 'me' },
  { ask: 'GET /users/me/posts', status: 200, is: 'posts me' },
  { ask: 'GET /users/me/settings', status: 200, is: 'settings' },
  { ask: 'GET /users/7/settings', status: 404 },
  { ask: 'PATCH /users/me', status: 200, is: 'patched' },
  { ask: 'DELETE /users/me', status: 204, is: '', head: { 'content-type': null } },
  { ask: 'GET /users/a%2Fb', status: 200, is: 'user a/b' },
  { ask: 'GET /users/a%252Fb', status: 200, is: 'user a%2Fb' },
  { ask: 'GET /users/%E2%82%AC', status: 200, is: 'user €' },
  { ask: 'GET /users/a+b', status: 200, is: 'user a+b' },
  { ask: 'GET /users/%', status: 400, has: { code: 'malformed_path' } },
  { ask: 'GET /users/%zz', status: 400, has: { code: 'malformed_path' } },
  { ask: 'GET /users/%c0%af', status: 400, has: { code: 'malformed_path' } },
  { ask: 'GET /users/%ED%A0%80', status: 400, has: { code: 'malformed_path' } },
  { ask: 'POST /nowhere/%', status: 400 },
  { ask: 'GET /users/__proto__', status: 200, is: 'user __proto__' },
  { ask: 'GET /constructor', status: 404 },
  { ask: 'GET /__proto__', status: 404 },
  { ask: 'GET /files/a/b/c', status: 200, is: 'rest a/b/c' },
  { ask: 'GET /files/a/b/', status: 200 },
  { ask: 'GET /files/readme', status: 200, is: 'readme' },
  { ask: 'GET /files/readme/meta', status: 200, is: 'meta readme' },
  { ask: 'GET /files/readme/other', status: 200, is: 'rest readme/other' },
  { ask: 'GET /files', status: 404 },
  { ask: 'GET /files/a%2F..%2Fb', status: 400 },
  { ask: 'GET /files/x/%2e%2e%5cy', status: 400 },
  { ask: 'GET /caf%C3%A9', status: 200, is: 'coffee' },
  { ask: 'GET /caf%c3%a9', status: 200, is: 'coffee' },
  { ask: 'HEAD /', status: 200, is: '', head: { 'content-type': TEXT_TYPE, 'content-length': '4' } },
  { ask: 'HEAD /users/9', status: 200, is: '' },
  { ask: 'HEAD /own-head', status: 204, head: { 'x-head': 'own' } },
  { ask: 'HEAD /nowhere', status: 404, is: '', head: { 'content-type': PROBLEM } },
  {
    ask: 'GET /nowhere',
    status: 404,
    has: { status: 404, code: 'not_found', title: 'Not Found' },
    head: { 'content-type': PROBLEM },
  },
  {
    ask: 'PUT /users',
    status: 405,
    has: { code: 'method_not_allowed' },
    head: { allow: 'GET, HEAD, POST, OPTIONS' },
  },
  { ask: 'POST /users/me', status: 405, head: { allow: 'GET, HEAD, PATCH, DELETE, OPTIONS' } },
  { ask: 'GET /only-put', status: 405, head: { allow: 'PUT, OPTIONS' } },
  { ask: 'OPTIONS /users', status: 204, is: '', head: { allow: 'GET, HEAD, POST, OPTIONS' } },
  { ask: 'OPTIONS /users/me', status: 204, head: { allow: 'GET, HEAD, PATCH, DELETE, OPTIONS' } },
  { ask: 'OPTIONS /own-options', status: 200, is: 'own' },
  { ask: 'OPTIONS /nowhere', status: 404 },
  { ask: 'GET /openapi.json', status: 200, has: { openapi: '3.1.1' }, head: { 'content-type': JSON_TYPE } },
  { ask: 'GET /docs', status: 200, head: { 'content-type': 'text/html; charset=utf-8' } },
  { ask: 'POST /docs', status: 405 },
]
