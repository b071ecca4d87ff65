/** Mortar as a user would write it, from the compiled package. `MORTAR_DIST` takes another build. */
import { pathToFileURL } from 'node:url'
import { resolve } from 'node:path'
import { boolean, number, object, string, array } from 'yup'
import { claimsOf, createOrder, CURRENCIES, findUser, routePrefix, SECRET, ZIP } from '../work/data.js'

const dist = pathToFileURL(`${resolve(process.env['MORTAR_DIST'] ?? `${import.meta.dirname}/../../dist`)}/`)
const entry = (path) => import(new URL(path, dist).href)
const { createApp, createRouter, fromKoa } = await entry('src/index.js')

const params = object({ id: number().integer().min(1).required() })
const query = object({
  page: number().integer().min(1).required(),
  limit: number().integer().min(1).max(100).required(),
  q: string().required().max(50),
})
const user = object({
  id: number().required(),
  name: string().required(),
  email: string().required(),
  page: number().required(),
  limit: number().required(),
  q: string().required(),
})
const userRoute = { params, query, response: { 200: user } }
const answerUser = (ctx) => findUser(ctx.params.id, ctx.query)

const orderBody = object({
  reference: string().required().max(40),
  customer: object({ name: string().required().max(100), email: string().email().required() }).required(),
  address: object({
    street: string().required().max(100),
    city: string().required().max(100),
    zip: string().required().matches(ZIP),
  }).required(),
  currency: string().oneOf(CURRENCIES).required(),
  express: boolean().required(),
  items: array(
    object({
      sku: string().required().max(20),
      quantity: number().integer().min(1).max(99).required(),
    }).required(),
  )
    .min(1)
    .max(20)
    .required(),
  note: string().max(500),
})
const order = object({
  reference: string().required(),
  customer: string().required(),
  email: string().required(),
  currency: string().required(),
  express: boolean().required(),
  quantity: number().required(),
})

const APPS = {
  hello: (router) => router.get('/', () => ({ hello: 'world' })),
  user: (router) => router.get('/users/:id', userRoute, answerUser),
  order: (router) =>
    router.post('/orders', { body: orderBody, response: { 201: order } }, (ctx) => {
      ctx.status = 201
      return createOrder(ctx.body)
    }),
  me: (router) => router.get('/me', { auth: true }, ({ user: { id, name, email } }) => ({ id, name, email })),
  routes: (router, size) => {
    for (let index = 0; index < size; index++) router.get(`${routePrefix(index)}/:id`, userRoute, answerUser)
  },
  middleware: (router) => router.get('/users/:id', userRoute, answerUser),
}

export async function start(app, size) {
  const [work, setting] = app.split(':')
  const router = createRouter()
  APPS[work](router, size)
  const mortar = createApp({ environment: 'production', logger: false, openapi: false })
  if (work === 'middleware') await addMiddleware(mortar)
  mortar.use(router)
  const tokens =
    work === 'me' ? await addAuth(mortar, size, setting === 'off' ? { accessTokenCache: 0 } : {}) : []
  const { port } = await mortar.listen(0, '127.0.0.1')
  return { port, tokens }
}

async function addMiddleware(mortar) {
  const [{ default: helmet }, { default: cors }, { requestId }] = await Promise.all([
    import('koa-helmet'),
    import('@koa/cors'),
    import('../work/koa-request-id.js'),
  ])
  for (const middleware of [helmet(), cors({ origin: 'https://example.com' }), requestId])
    mortar.use(fromKoa(middleware))
}

/** The guard of the auth brick, which verifies tokens without its database; its start reads which sessions have ended. */
async function addAuth(mortar, count, options) {
  const [{ auth }, { basicAuth }, { database }, schema] = await Promise.all([
    entry('plugins/auth/index.js'),
    entry('plugins/auth/basic/index.js'),
    entry('plugins/database/index.js'),
    entry('plugins/auth/basic/schema.js'),
  ])
  const { AuthUsers, AuthRefreshTokens, AuthResetTokens, AuthEndedSessions } = schema
  const entities = [AuthUsers, AuthRefreshTokens, AuthResetTokens, AuthEndedSessions]
  mortar.use(database({ type: 'better-sqlite3', database: ':memory:', entities, synchronize: true }))
  mortar.use(
    auth(basicAuth({ secret: SECRET, appUrl: 'https://example.com', accessTokenLifetime: '1d', ...options })),
  )
  await mortar.ready()
  const { authenticator } = mortar.services
  return Array.from({ length: count }, (_, index) => {
    const { id, ...raw } = claimsOf(index).user
    return authenticator.issueToken({ id, raw: { id, ...raw } })
  })
}
