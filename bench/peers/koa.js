/** Plain Koa: no router, no library; the work of raw node:http in one Koa middleware. */
import Koa from 'koa'
import { checkOrder, Issues, readOffset, readUserInput, signTokens, verifyToken } from '../work/by-hand.js'
import { checkDocument, readSearch } from '../work/by-hand-bodies.js'
import { createOrder, findUser, publicOrder, publicUser, routePrefix } from '../work/data.js'
import { saveDocument } from '../work/documents.js'
import { listProducts, publicProduct } from '../work/products.js'
import { findOffers, publicOffers } from '../work/searches.js'

export async function start(app, size) {
  const koa = new Koa()
  koa.proxy = false
  if (app === 'middleware') await addMiddleware(koa)
  koa.use(HANDLERS[app](size))
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

const HANDLERS = {
  hello: () => (ctx) => {
    if (ctx.path === '/' && ctx.method === 'GET') ctx.body = { hello: 'world' }
  },
  user: () => (ctx) => {
    if (ctx.method === 'GET' && ctx.path.startsWith('/users/')) answerUser(ctx, ctx.path.slice(7))
  },
  order: () => async (ctx) => {
    if (ctx.method !== 'POST' || ctx.path !== '/orders') return
    const body = await readJson(ctx.req)
    if (body === undefined) return answer(ctx, 400, { error: 'malformed' })
    const input = checkOrder(body)
    if (input instanceof Issues) answer(ctx, 422, { errors: input.list })
    else answer(ctx, 201, publicOrder(createOrder(input)))
  },
  document: () => async (ctx) => {
    if (ctx.method !== 'POST' || ctx.path !== '/documents') return
    const body = await readJson(ctx.req)
    if (body === undefined) return answer(ctx, 400, { error: 'malformed' })
    const input = checkDocument(body)
    if (input instanceof Issues) answer(ctx, 422, { errors: input.list })
    else answer(ctx, 201, saveDocument(input))
  },
  products: () => (ctx) => {
    if (ctx.method !== 'GET' || ctx.path !== '/products') return
    const offset = readOffset(ctx.querystring)
    if (offset instanceof Issues) return answer(ctx, 422, { errors: offset.list })
    const { products, total } = listProducts(offset)
    ctx.body = { products: products.map(publicProduct), total }
  },
  search: () => (ctx) => {
    if (ctx.method !== 'GET' || !ctx.path.startsWith('/search/')) return
    const input = readSearch(ctx.path.slice(8), ctx.querystring)
    if (input instanceof Issues) answer(ctx, 422, { errors: input.list })
    else ctx.body = publicOffers(findOffers(input))
  },
  me: () => (ctx) => {
    if (ctx.method !== 'GET' || ctx.path !== '/me') return
    const claims = verifyToken(ctx.headers.authorization)
    if (claims === null) return answer(ctx, 401, { error: 'unauthorized' })
    const { id, name, email } = claims.user
    ctx.body = { id, name, email }
  },
  routes: (size) => {
    const handlers = new Map()
    for (let index = 0; index < size; index++) handlers.set(routePrefix(index).slice(1, -6), answerUser)
    return (ctx) => {
      const { path } = ctx
      const end = path.indexOf('/', 1)
      const handler =
        ctx.method === 'GET' && path.startsWith('/users/', end) ? handlers.get(path.slice(1, end)) : undefined
      handler?.(ctx, path.slice(end + 7))
    }
  },
  middleware: () => HANDLERS.user(),
}

function answerUser(ctx, idText) {
  const input = readUserInput(idText, ctx.querystring)
  if (input instanceof Issues) return answer(ctx, 422, { errors: input.list })
  ctx.body = publicUser(findUser(input.id, input))
}

function answer(ctx, status, body) {
  ctx.status = status
  ctx.body = body
}

async function readJson(req) {
  const chunks = []
  for await (const chunk of req) chunks.push(chunk)
  try {
    return JSON.parse(Buffer.concat(chunks).toString('utf8'))
  } catch {
    return undefined
  }
}
