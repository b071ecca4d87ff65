/** Fastify 5 with ajv, response schemas, and @fastify/jwt with its cache. */
import Fastify from 'fastify'
import { signTokens } from '../work/by-hand.js'
import { createOrder, CURRENCIES, findUser, ISSUER, routePrefix, SECRET, ZIP } from '../work/data.js'

const text = (maxLength, minLength = 1) => ({ type: 'string', minLength, maxLength })
const objectOf = (properties, required = Object.keys(properties)) => ({
  type: 'object',
  properties,
  required,
})
const whole = (minimum, maximum) => ({
  type: 'integer',
  minimum,
  ...(maximum === undefined ? {} : { maximum }),
})

const userSchema = {
  params: objectOf({ id: whole(1) }),
  querystring: objectOf({ page: whole(1), limit: whole(1, 100), q: text(50) }),
  response: {
    200: objectOf({
      id: { type: 'integer' },
      name: { type: 'string' },
      email: { type: 'string' },
      page: { type: 'integer' },
      limit: { type: 'integer' },
      q: { type: 'string' },
    }),
  },
}
const orderSchema = {
  body: objectOf(
    {
      reference: text(40),
      customer: objectOf({ name: text(100), email: { type: 'string', format: 'email' } }),
      address: objectOf({ street: text(100), city: text(100), zip: { type: 'string', pattern: ZIP.source } }),
      currency: { type: 'string', enum: CURRENCIES },
      express: { type: 'boolean' },
      items: {
        type: 'array',
        minItems: 1,
        maxItems: 20,
        items: objectOf({ sku: text(20), quantity: whole(1, 99) }),
      },
      note: text(500, 0),
    },
    ['reference', 'customer', 'address', 'currency', 'express', 'items'],
  ),
  response: {
    201: objectOf({
      reference: { type: 'string' },
      customer: { type: 'string' },
      email: { type: 'string' },
      currency: { type: 'string' },
      express: { type: 'boolean' },
      quantity: { type: 'integer' },
    }),
  },
}
const answerUser = async (request) => findUser(request.params.id, request.query)

const APPS = {
  hello: (fastify) => fastify.get('/', HELLO, async () => ({ hello: 'world' })),
  user: (fastify) => fastify.get('/users/:id', { schema: userSchema }, answerUser),
  order: (fastify) =>
    fastify.post('/orders', { schema: orderSchema }, async (request, reply) => {
      reply.code(201)
      return createOrder(request.body)
    }),
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
  routes: (fastify, size) => {
    for (let index = 0; index < size; index++)
      fastify.get(`${routePrefix(index)}/:id`, { schema: userSchema }, answerUser)
  },
  middleware: async (fastify) => {
    const [{ default: helmet }, { default: cors }, { randomUUID }] = await Promise.all([
      import('@fastify/helmet'),
      import('@fastify/cors'),
      import('node:crypto'),
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
  const fastify = Fastify({ ajv: { customOptions: { allErrors: true } } })
  fastify.setErrorHandler((error, request, reply) => {
    if (error.validation)
      return reply.code(422).send({ errors: error.validation.map(issueOf(error.validationContext)) })
    return reply.code(error.statusCode ?? 500).send({ error: error.message })
  })
  const [work, setting] = app.split(':')
  await APPS[work](fastify, size, setting)
  await fastify.listen({ port: 0, host: '127.0.0.1' })
  return { port: fastify.server.address().port, tokens: work === 'me' ? signTokens(size) : [] }
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
