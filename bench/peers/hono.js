/** Hono on @hono/node-server, validated with zod, its own JWT middleware. */
import { serve } from '@hono/node-server'
import { zValidator } from '@hono/zod-validator'
import { Hono } from 'hono'
import { signTokens } from '../work/by-hand.js'
import { createOrder, findUser, ISSUER, publicOrder, publicUser, routePrefix, SECRET } from '../work/data.js'
import { issuesOf, order, params, query } from '../work/zod-schemas.js'

const valid = (target, location, schema) =>
  zValidator(target, schema, (result, c) =>
    result.success ? undefined : c.json({ errors: issuesOf(location, result.error) }, 422),
  )
const userInput = [valid('param', 'params', params), valid('query', 'query', query)]
const answerUser = (c) => c.json(publicUser(findUser(c.req.valid('param').id, c.req.valid('query'))))

const APPS = {
  hello: (hono) => hono.get('/', (c) => c.json({ hello: 'world' })),
  user: (hono) => hono.get('/users/:id', ...userInput, answerUser),
  order: (hono) =>
    hono.post('/orders', valid('json', 'body', order), (c) =>
      c.json(publicOrder(createOrder(c.req.valid('json'))), 201),
    ),
  me: async (hono) => {
    const { jwt } = await import('hono/jwt')
    hono.get(
      '/me',
      jwt({ secret: SECRET, alg: 'HS256', verification: { iss: ISSUER, aud: ISSUER } }),
      (c) => {
        const { id, name, email } = c.get('jwtPayload').user
        return c.json({ id, name, email })
      },
    )
  },
  routes: (hono, size) => {
    for (let index = 0; index < size; index++) hono.get(`${routePrefix(index)}/:id`, ...userInput, answerUser)
  },
  middleware: async (hono) => {
    const [{ secureHeaders }, { cors }, { requestId }] = await Promise.all([
      import('hono/secure-headers'),
      import('hono/cors'),
      import('hono/request-id'),
    ])
    hono.use(secureHeaders(), cors({ origin: 'https://example.com' }), requestId())
    hono.get('/users/:id', ...userInput, answerUser)
  },
}

export async function start(app, size) {
  const hono = new Hono()
  await APPS[app](hono, size)
  const port = await new Promise((resolve) => {
    serve({ fetch: hono.fetch, port: 0, hostname: '127.0.0.1' }, (address) => resolve(address.port))
  })
  return { port, tokens: app === 'me' ? signTokens(size) : [] }
}
