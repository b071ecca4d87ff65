/* Workload m on Fastify: @fastify/jwt with its cache, ajv, a response schema; `list` is the data access. */
import Fastify from 'fastify'
import jwt from '@fastify/jwt'
import { signTokens } from '../by-hand.js'
import { ISSUER, SECRET } from '../data.js'

const string = { type: 'string' }
const time = { type: 'string', format: 'date-time' }
const objectOf = (properties) => ({ type: 'object', properties, required: Object.keys(properties) })

const schema = {
  querystring: {
    type: 'object',
    properties: {
      archived: { type: 'boolean', default: false },
      limit: { type: 'integer', minimum: 1, maximum: 100, default: 20 },
      offset: { type: 'integer', minimum: 0, default: 0 },
    },
  },
  response: {
    200: objectOf({
      notes: {
        type: 'array',
        items: objectOf({
          id: string,
          title: string,
          text: string,
          archived: { type: 'boolean' },
          created_at: time,
          updated_at: time,
        }),
      },
      total: { type: 'integer' },
    }),
  },
}

/** @param list `(owner, { archived, limit, offset })` to `{ notes, total }`, or a promise of it */
export async function startFastify(list, users) {
  const fastify = Fastify()
  await fastify.register(jwt, {
    secret: SECRET,
    verify: { algorithms: ['HS256'], allowedIss: ISSUER, allowedAud: ISSUER, cache: true },
  })
  fastify.setErrorHandler((error, request, reply) =>
    reply.code(error.validation ? 422 : (error.statusCode ?? 500)).send({ error: error.message }),
  )
  const onRequest = async (request) => request.jwtVerify()
  fastify.get('/notes', { onRequest, schema }, async (request) => list(request.user.sub, request.query))
  await fastify.listen({ port: 0, host: '127.0.0.1' })
  return { port: fastify.server.address().port, tokens: signTokens(users) }
}
