/** Hono on @hono/node-server, validated with zod, its own JWT middleware. */
import { serve } from '@hono/node-server'
import { zValidator } from '@hono/zod-validator'
import { Hono } from 'hono'
import { KEY, signTokens } from '../work/by-hand.js'
import { createOrder, findUser, ISSUER, publicOrder, publicUser, routePrefix } from '../work/data.js'
import { saveDocument } from '../work/documents.js'
import { listProducts, publicProduct } from '../work/products.js'
import { findOffers, publicOffers } from '../work/searches.js'
import {
  document,
  issuesOf,
  order,
  params,
  productQuery,
  query,
  searchParams,
  searchQuery,
} from '../work/zod-schemas.js'

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
  document: (hono) =>
    hono.post('/documents', valid('json', 'body', document), (c) =>
      c.json(saveDocument(c.req.valid('json')), 201),
    ),
  products: (hono) =>
    hono.get('/products', valid('query', 'query', productQuery), (c) => {
      const { products, total } = listProducts(c.req.valid('query').offset)
      return c.json({ products: products.map(publicProduct), total })
    }),
  search: (hono) =>
    hono.get(
      '/search/:place/:trade',
      valid('param', 'params', searchParams),
      valid('query', 'query', searchQuery),
      (c) => {
        const { place, trade } = c.req.valid('param')
        return c.json(publicOffers(findOffers({ place, trade, query: c.req.valid('query') })))
      },
    ),
  me: async (hono) => {
    const [{ jwt }, { webcrypto }] = await Promise.all([import('hono/jwt'), import('node:crypto')])
    // With a string, it would import the key for each verification.
    const algorithm = { name: 'HMAC', hash: 'SHA-256' }
    const secret = await webcrypto.subtle.importKey('raw', KEY.export(), algorithm, false, ['verify'])
    hono.get('/me', jwt({ secret, alg: 'HS256', verification: { iss: ISSUER, aud: ISSUER } }), (c) => {
      const { id, name, email } = c.get('jwtPayload').user
      return c.json({ id, name, email })
    })
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
