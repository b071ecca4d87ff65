/** The stack that people assemble by hand: koa, @koa/router, koa-body, yup, jsonwebtoken, an awilix scope a request. */
import Koa from 'koa'
import Router from '@koa/router'
import { koaBody } from 'koa-body'
import jwt from 'jsonwebtoken'
import { asClass, createContainer } from 'awilix'
import { array, boolean, number, object, string, ValidationError } from 'yup'
import { KEY, signTokens } from '../work/by-hand.js'
import {
  createOrder,
  CURRENCIES,
  findUser,
  ISSUER,
  publicOrder,
  publicUser,
  routePrefix,
  ZIP,
} from '../work/data.js'
import { BLOCK_TYPES, LANGUAGES, saveDocument } from '../work/documents.js'
import { listProducts, publicProduct } from '../work/products.js'
import { findOffers, publicOffers, SORTS } from '../work/searches.js'

const params = object({ id: number().integer().min(1).required() })
const query = object({
  page: number().integer().min(1).required(),
  limit: number().integer().min(1).max(100).required(),
  q: string().required().max(50),
})
const order = object({
  reference: string().required().max(40),
  customer: object({ name: string().required().max(100), email: string().email().required() }).required(),
  address: object({
    street: string().required().max(100),
    city: string().required().max(100),
    zip: string().required().matches(ZIP),
  }).required(),
  currency: string().oneOf(CURRENCIES).required(),
  express: boolean().strict().required(),
  items: array(
    object({
      sku: string().required().max(20),
      quantity: number().strict().integer().min(1).max(99).required(),
    }).required(),
  )
    .min(1)
    .max(20)
    .required(),
  note: string().max(500),
})

const productQuery = object({ offset: number().integer().min(0).required() })
const documentBody = object({
  title: string().required().max(200),
  language: string().oneOf(LANGUAGES).required(),
  revision: number().strict().integer().min(1).required(),
  tags: array(string().required().max(40)).max(20).required(),
  blocks: array(
    object({
      id: string().required().max(40),
      type: string().oneOf(BLOCK_TYPES).required(),
      text: string().defined().max(2000),
      level: number().strict().integer().min(1).max(6),
    }).required(),
  )
    .min(1)
    .max(500)
    .required(),
})
const searchParams = object({ place: string().required().max(60), trade: string().required().max(60) })
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

class UserService {
  find(id, options) {
    return findUser(id, options)
  }
}

export async function start(app, size) {
  const [work, setting] = app.split(':')
  const koa = new Koa()
  if (setting === 'log') await addRequestLog(koa)
  const container = createContainer().register({ users: asClass(UserService).scoped() })
  koa.use(answerErrors)
  if (work === 'middleware') await addMiddleware(koa)
  koa.use(async (ctx, next) => {
    ctx.state.scope = container.createScope()
    await next()
  })
  koa.use(koaBody())
  const router = new Router()
  ROUTES[work](router, size)
  koa.use(router.routes()).use(router.allowedMethods())
  const server = koa.listen(0, '127.0.0.1')
  await new Promise((resolve) => server.once('listening', resolve))
  return { port: server.address().port, tokens: work === 'me' ? signTokens(size) : [] }
}

async function addRequestLog(koa) {
  const { logWhenDone } = await import('../work/request-log.js')
  koa.use(async (ctx, next) => {
    logWhenDone(ctx.req, ctx.res, () => ctx._matchedRoute ?? '')
    await next()
  })
}

async function addMiddleware(koa) {
  const [{ default: helmet }, { default: cors }, { requestId }] = await Promise.all([
    import('koa-helmet'),
    import('@koa/cors'),
    import('../work/koa-request-id.js'),
  ])
  koa
    .use(helmet())
    .use(cors({ origin: 'https://example.com' }))
    .use(requestId)
}

async function answerErrors(ctx, next) {
  try {
    await next()
  } catch (error) {
    if (error instanceof Invalid) {
      ctx.status = 422
      ctx.body = { errors: error.issues }
    } else {
      ctx.status = error instanceof SyntaxError ? 400 : (error.status ?? 500)
      ctx.body = { error: error.message }
    }
  }
}

class Invalid extends Error {
  constructor(issues) {
    super('invalid')
    this.issues = issues
  }
}

const ROUTES = {
  hello: (router) =>
    router.get('/', (ctx) => {
      ctx.body = { hello: 'world' }
    }),
  user: (router) => router.get('/users/:id', answerUser),
  order: (router) =>
    router.post('/orders', async (ctx) => {
      const { body } = await validate({ body: [order, ctx.request.body] })
      ctx.status = 201
      ctx.body = publicOrder(createOrder(body))
    }),
  document: (router) =>
    router.post('/documents', async (ctx) => {
      const { body } = await validate({ body: [documentBody, ctx.request.body] })
      ctx.status = 201
      ctx.body = saveDocument(body)
    }),
  products: (router) =>
    router.get('/products', async (ctx) => {
      const input = await validate({ query: [productQuery, ctx.query] })
      const { products, total } = listProducts(input.query.offset)
      ctx.body = { products: products.map(publicProduct), total }
    }),
  search: (router) =>
    router.get('/search/:place/:trade', async (ctx) => {
      const input = await validate({ params: [searchParams, ctx.params], query: [searchQuery, ctx.query] })
      const { place, trade } = input.params
      ctx.body = publicOffers(findOffers({ place, trade, query: input.query }))
    }),
  me: (router) =>
    router.get('/me', requireUser, (ctx) => {
      const { id, name, email } = ctx.state.user
      ctx.body = { id, name, email }
    }),
  routes: (router, size) => {
    for (let index = 0; index < size; index++) router.get(`${routePrefix(index)}/:id`, answerUser)
  },
  middleware: (router) => router.get('/users/:id', answerUser),
}

async function answerUser(ctx) {
  const input = await validate({ params: [params, ctx.params], query: [query, ctx.query] })
  ctx.body = publicUser(ctx.state.scope.resolve('users').find(input.params.id, input.query))
}

async function requireUser(ctx, next) {
  const token = /^Bearer (.+)$/.exec(ctx.get('Authorization'))?.[1]
  try {
    ctx.state.user = jwt.verify(token, KEY, {
      algorithms: ['HS256'],
      issuer: ISSUER,
      audience: ISSUER,
    }).user
  } catch {
    ctx.throw(401, 'unauthorized')
  }
  await next()
}

async function validate(inputs) {
  const values = {}
  const issues = []
  for (const [location, [schema, input]] of Object.entries(inputs))
    try {
      values[location] = await schema.validate(input, { abortEarly: false })
    } catch (error) {
      if (!(error instanceof ValidationError)) throw error
      for (const { path, message } of error.inner.length > 0 ? error.inner : [error])
        issues.push({ location, path, message })
    }
  if (issues.length > 0) throw new Invalid(issues)
  return values
}
