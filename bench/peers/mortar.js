/** Mortar as a user would write it, from the compiled package. `MORTAR_DIST` names another build. */
import { boolean, number, object, string, array } from 'yup'
import { claimsOf, createOrder, CURRENCIES, findUser, routePrefix, SECRET, ZIP } from '../work/data.js'
import { BLOCK_TYPES, LANGUAGES, saveDocument } from '../work/documents.js'
import { importMortar } from '../work/mortar-entry.js'
import { listProducts } from '../work/products.js'
import { findOffers, SORTS } from '../work/searches.js'

const { createApp, createRouter, fromKoa } = await importMortar('mortar')

/** A route with schemas of its own, as each file of an application has them. */
const createUserRoute = () => ({
  params: object({ id: number().integer().min(1).required() }),
  query: object({
    page: number().integer().min(1).required(),
    limit: number().integer().min(1).max(100).required(),
    q: string().required().max(50),
  }),
  response: {
    200: object({
      id: number().required(),
      name: string().required(),
      email: string().required(),
      page: number().required(),
      limit: number().required(),
      q: string().required(),
    }),
  },
})
const userRoute = createUserRoute()
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

const product = object({
  id: string().required(),
  name: string().required(),
  description: string().required(),
  category: string().required(),
  price: number().required(),
  quantity: number().required(),
  active: boolean().required(),
  created_at: string().required(),
})
const productRoute = {
  query: object({ offset: number().integer().min(0).required() }),
  response: { 200: object({ products: array(product).required(), total: number().required() }) },
}
const documentRoute = {
  body: object({
    title: string().required().max(200),
    language: string().oneOf(LANGUAGES).required(),
    revision: number().integer().min(1).required(),
    tags: array(string().required().max(40)).max(20).required(),
    blocks: array(
      object({
        id: string().required().max(40),
        type: string().oneOf(BLOCK_TYPES).required(),
        text: string().defined().max(2000),
        level: number().integer().min(1).max(6),
      }).required(),
    )
      .min(1)
      .max(500)
      .required(),
  }),
  response: {
    201: object({
      title: string().required(),
      revision: number().required(),
      blocks: number().required(),
      characters: number().required(),
    }),
  },
}
const searchQuery = object({
  q: string().required().max(80),
  page: number().integer().min(1).required(),
  limit: number().integer().min(1).max(100).required(),
  sort: string().oneOf(SORTS).required(),
  open: boolean().required(),
  min: number().min(0).required(),
  max: number().min(0).required(),
  brand: string().required().max(100),
  from: string().required().max(100),
  near: string().required().max(100),
  ref: string().required().max(100),
})
const searchParams = object({ place: string().required().max(60), trade: string().required().max(60) })
const searchRoute = {
  params: searchParams,
  query: searchQuery,
  response: {
    200: object({
      place: string().required(),
      trade: string().required(),
      q: string().required(),
      page: number().required(),
      limit: number().required(),
      sort: string().required(),
      open: boolean().required(),
      min: number().required(),
      max: number().required(),
      brand: string().required(),
      from: string().required(),
      near: string().required(),
      ref: string().required(),
      found: number().required(),
    }),
  },
}

const APPS = {
  hello: (router) => router.get('/', () => ({ hello: 'world' })),
  user: (router) => router.get('/users/:id', userRoute, answerUser),
  order: (router) =>
    router.post('/orders', { body: orderBody, response: { 201: order } }, (ctx) => {
      ctx.status = 201
      return createOrder(ctx.body)
    }),
  document: (router) =>
    router.post('/documents', documentRoute, (ctx) => {
      ctx.status = 201
      return saveDocument(ctx.body)
    }),
  products: (router) => router.get('/products', productRoute, (ctx) => listProducts(ctx.query.offset)),
  search: (router) =>
    router.get('/search/:place/:trade', searchRoute, (ctx) => {
      const { place, trade } = ctx.params
      return findOffers({ place, trade, query: ctx.query })
    }),
  me: (router) => router.get('/me', { auth: true }, ({ user: { id, name, email } }) => ({ id, name, email })),
  routes: (router, size, setting) => {
    for (let index = 0; index < size; index++)
      router.get(`${routePrefix(index)}/:id`, setting === 'own' ? createUserRoute() : userRoute, answerUser)
  },
  middleware: (router) => router.get('/users/:id', userRoute, answerUser),
}

export async function start(app, size) {
  const [work, setting] = app.split(':')
  const router = createRouter()
  APPS[work](router, size, setting)
  // Without `logger: false` it is pino, to standard output.
  const logging = setting === 'log' ? { logRequests: true } : { logger: false }
  const mortar = createApp({ environment: 'production', openapi: false, ...logging })
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
    importMortar('@mortar/auth'),
    importMortar('@mortar/auth/basic'),
    importMortar('@mortar/database'),
    importMortar('@mortar/auth/basic/schema'),
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
