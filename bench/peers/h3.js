/** h3 2 on Node, validated with zod; jsonwebtoken as its users take it. */
import { H3, HTTPError, readBody, serve, getQuery } from 'h3'
import jwt from 'jsonwebtoken'
import { KEY, signTokens } from '../work/by-hand.js'
import { createOrder, findUser, ISSUER, publicOrder, publicUser, routePrefix } from '../work/data.js'
import { issuesOf, order, params, query } from '../work/zod-schemas.js'

function check(event, inputs) {
  const values = {}
  const errors = []
  for (const [location, [schema, input]] of Object.entries(inputs)) {
    const { success, data, error } = schema.safeParse(input)
    if (success) values[location] = data
    else errors.push(...issuesOf(location, error))
  }
  if (errors.length === 0) return values
  throw new HTTPError({ status: 422, body: { errors } })
}

function answerUser(event) {
  const input = check(event, { params: [params, event.context.params], query: [query, getQuery(event)] })
  return publicUser(findUser(input.params.id, input.query))
}

function requireUser(event) {
  const token = /^Bearer (.+)$/.exec(event.req.headers.get('authorization') ?? '')?.[1]
  try {
    return jwt.verify(token, KEY, { algorithms: ['HS256'], issuer: ISSUER, audience: ISSUER }).user
  } catch {
    throw new HTTPError({ status: 401 })
  }
}

const APPS = {
  hello: (h3) => h3.get('/', () => ({ hello: 'world' })),
  user: (h3) => h3.get('/users/:id', answerUser),
  order: (h3) =>
    h3.post('/orders', async (event) => {
      const { body } = check(event, { body: [order, await readBody(event)] })
      event.res.status = 201
      return publicOrder(createOrder(body))
    }),
  me: (h3) =>
    h3.get('/me', (event) => {
      const { id, name, email } = requireUser(event)
      return { id, name, email }
    }),
  routes: (h3, size) => {
    for (let index = 0; index < size; index++) h3.get(`${routePrefix(index)}/:id`, answerUser)
  },
}

export async function start(app, size) {
  const h3 = new H3({ silent: true })
  APPS[app](h3, size)
  const server = serve(h3, { port: 0, hostname: '127.0.0.1', silent: true, gracefulShutdown: false })
  await server.ready()
  return { port: Number(new URL(server.url).port), tokens: app === 'me' ? signTokens(size) : [] }
}
