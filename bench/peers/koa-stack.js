/** The stack that people assemble by hand: koa, @koa/router, koa-body, yup, jsonwebtoken, an awilix scope a request. */
import Koa from 'koa'
import Router from '@koa/router'
import { koaBody } from 'koa-body'
import jwt from 'jsonwebtoken'
import { asClass, createContainer } from 'awilix'
import { array, boolean, number, object, string, ValidationError } from 'yup'
import { signTokens } from '../work/by-hand.js'
import {
  createOrder,
  CURRENCIES,
  findUser,
  ISSUER,
  publicOrder,
  publicUser,
  routePrefix,
  SECRET,
  ZIP,
} from '../work/data.js'

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

class UserService {
  find(id, options) {
    return findUser(id, options)
  }
}

export async function start(app, size) {
  const koa = new Koa()
  const container = createContainer().register({ users: asClass(UserService).scoped() })
  koa.use(answerErrors)
  if (app === 'middleware') await addMiddleware(koa)
  koa.use(async (ctx, next) => {
    ctx.state.scope = container.createScope()
    await next()
  })
  koa.use(koaBody())
  const router = new Router()
  ROUTES[app](router, size)
  koa.use(router.routes()).use(router.allowedMethods())
  const server = koa.listen(0, '127.0.0.1')
  await new Promise((resolve) => server.once('listening', resolve))
  return { port: server.address().port, tokens: app === 'me' ? signTokens(size) : [] }
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
    ctx.state.user = jwt.verify(token, SECRET, {
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
