/** Fastify 5 with ajv, response schemas, and @fastify/jwt with its cache. */
import { randomUUID } from 'node:crypto'
import Fastify, { LogController } from 'fastify'
import { signTokens } from '../work/by-hand.js'
import { createOrder, findUser, ISSUER, routePrefix, SECRET } from '../work/data.js'
import { saveDocument } from '../work/documents.js'
import {
  documentSchema,
  objectOf,
  orderSchema,
  productsSchema,
  searchSchema,
  userSchema,
} from '../work/fastify-schemas.js'
import { listProducts } from '../work/products.js'
import { lineOf } from '../work/request-line.js'
import { findOffers } from '../work/searches.js'

const answerUser = async (request) => findUser(request.params.id, request.query)

const APPS = {
  hello: (fastify) => fastify.get('/', HELLO, async () => ({ hello: 'world' })),
  user: (fastify) => fastify.get('/users/:id', { schema: userSchema }, answerUser),
  order: (fastify) =>
    fastify.post('/orders', { schema: orderSchema }, async (request, reply) => {
      reply.code(201)
      return createOrder(request.body)
    }),
  document: (fastify) =>
    fastify.post('/documents', { schema: documentSchema }, async (request, reply) => {
      reply.code(201)
      return saveDocument(request.body)
    }),
  products: (fastify) =>
    fastify.get('/products', { schema: productsSchema }, async (request) =>
      listProducts(request.query.offset),
    ),
  search: (fastify) =>
    fastify.get(
      '/search/:place/:trade',
      { schema: searchSchema },
      async ({ params: { place, trade }, query }) => findOffers({ place, trade, query }),
    ),
  me: async (fastify, size, setting) => {
    const { default: jwt } = await import('@fastify/jwt')
    const cache = setting !== 'off'
    await fastify.register(jwt, {
      secret: SECRET,
      verify: { algorithms: ['HS256'], allowedIss: ISSUER, allowedAud: ISSUER, cache },
    })
    const onRequest = async (request) => request.jwtVerify()
    fastify.get('/me', { onRequest, schema: ME }, async ({ user: { user } }) => user)
  },
  routes: (fastify, size, setting) => {
    for (let index = 0; index < size; index++) {
      const schema = setting === 'own' ? structuredClone(userSchema) : userSchema
      fastify.get(`${routePrefix(index)}/:id`, { schema }, answerUser)
    }
  },
  middleware: async (fastify) => {
    const [{ default: helmet }, { default: cors }] = await Promise.all([
      import('@fastify/helmet'),
      import('@fastify/cors'),
    ])
    await fastify.register(helmet)
    await fastify.register(cors, { origin: 'https://example.com' })
    fastify.addHook('onRequest', async (request, reply) => {
      reply.header('X-Request-Id', request.headers['x-request-id'] || randomUUID())
    })
    fastify.get('/users/:id', { schema: userSchema }, answerUser)
  },
}

const HELLO = { schema: { response: { 200: objectOf({ hello: { type: 'string' } }) } } }
const ME = {
  response: {
    200: objectOf({ id: { type: 'string' }, name: { type: 'string' }, email: { type: 'string' } }),
  },
}

export async function start(app, size) {
  const [work, setting] = app.split(':')
  const fastify = Fastify({
    ajv: { customOptions: { allErrors: true } },
    ...(setting === 'log' ? LOGGED : {}),
  })
  if (setting === 'log') addRequestLog(fastify)
  fastify.setErrorHandler((error, request, reply) => {
    if (error.validation)
      return reply.code(422).send({ errors: error.validation.map(issueOf(error.validationContext)) })
    return reply.code(error.statusCode ?? 500).send({ error: error.message })
  })
  await APPS[work](fastify, size, setting)
  await fastify.listen({ port: 0, host: '127.0.0.1' })
  return { port: fastify.server.address().port, tokens: work === 'me' ? signTokens(size) : [] }
}

/** One line with the fields of the other servers in place of Fastify's own two. */
const LOGGED = {
  logger: { level: 'info' },
  logController: new LogController({ disableRequestLogging: true }),
  genReqId: () => randomUUID(),
}

function addRequestLog(fastify) {
  const log = (request, reply, aborted) => {
    const { id: requestId, method, url, ip } = request
    const { url: route = '' } = request.routeOptions
    const { statusCode: status, elapsedTime: ms } = reply
    request.log.info(...lineOf({ requestId, method, url, route, status, ms, ip, aborted }))
  }
  fastify.addHook('onRequest', async (request, reply) => {
    reply.header('X-Request-Id', request.id)
  })
  fastify.addHook('onResponse', async (request, reply) => log(request, reply, false))
  fastify.addHook('onRequestAbort', async (request) =>
    log(request, { statusCode: 499, elapsedTime: 0 }, true),
  )
}

/** Fastify stops at the first location with an issue; an issue of ajv names its place as a JSON pointer. */
function issueOf(context) {
  const location = context === 'querystring' ? 'query' : context
  return ({ instancePath, params, message }) => {
    const path = instancePath
      .slice(1)
      .replace(/\/(\d+)/g, '[$1]')
      .replaceAll('/', '.')
    const missing = params.missingProperty
    return { location, path: missing ? (path ? `${path}.${missing}` : missing) : path, message }
  }
}
