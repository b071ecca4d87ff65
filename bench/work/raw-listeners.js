/*
 * The work of raw node:http, apart from how a response is written and a body is read: `raw` does both plainly,
 * `raw-tuned` with every trick of Mortar's listener.
 */
import { randomUUID } from 'node:crypto'
import { checkOrder, Issues, readOffset, readUserInput, verifyToken } from './by-hand.js'
import { checkDocument, readSearch } from './by-hand-bodies.js'
import { createOrder, EXTRA_HEADERS, findUser, publicOrder, publicUser, routePrefix } from './data.js'
import { saveDocument } from './documents.js'
import { listProducts, publicProduct } from './products.js'
import { findOffers, publicOffers } from './searches.js'

/**
 * @param {object} io
 * @param {(req, res, status: number, value: unknown) => void} io.send writes JSON
 * @param {(req, res, next: (body: unknown, req, res) => void) => void} io.readJson responds with 400 to a malformed body
 */
export function createListeners({ send, readJson }) {
  const notFound = (req, res) => send(req, res, 404, { error: 'not found' })
  const invalid = (req, res, { list }) => send(req, res, 422, { errors: list })

  function answerUser(req, res, from) {
    const { url } = req
    const mark = url.indexOf('?', from)
    const idText = mark === -1 ? url.slice(from) : url.slice(from, mark)
    const input = readUserInput(idText, mark === -1 ? '' : url.slice(mark + 1))
    if (input instanceof Issues) invalid(req, res, input)
    else send(req, res, 200, publicUser(findUser(input.id, input)))
  }

  function answerOrder(body, req, res) {
    const input = checkOrder(body)
    if (input instanceof Issues) invalid(req, res, input)
    else send(req, res, 201, publicOrder(createOrder(input)))
  }

  function answerDocument(body, req, res) {
    const input = checkDocument(body)
    if (input instanceof Issues) invalid(req, res, input)
    else send(req, res, 201, saveDocument(input))
  }

  const user = (req, res) => {
    if (req.method === 'GET' && req.url.startsWith('/users/')) answerUser(req, res, 7)
    else notFound(req, res)
  }

  return {
    hello: () => (req, res) => {
      if (req.method === 'GET' && (req.url === '/' || req.url.startsWith('/?')))
        send(req, res, 200, { hello: 'world' })
      else notFound(req, res)
    },
    user: (size, setting) => (setting === 'log' ? logged(user) : user),
    order: () => (req, res) => {
      if (req.method === 'POST' && req.url === '/orders') readJson(req, res, answerOrder)
      else notFound(req, res)
    },
    document: () => (req, res) => {
      if (req.method === 'POST' && req.url === '/documents') readJson(req, res, answerDocument)
      else notFound(req, res)
    },
    products: () => (req, res) => {
      const { url } = req
      if (req.method !== 'GET' || !url.startsWith('/products?')) return notFound(req, res)
      const offset = readOffset(url.slice(10))
      if (offset instanceof Issues) return invalid(req, res, offset)
      const { products, total } = listProducts(offset)
      send(req, res, 200, { products: products.map(publicProduct), total })
    },
    search: () => (req, res) => {
      const { url } = req
      if (req.method !== 'GET' || !url.startsWith('/search/')) return notFound(req, res)
      const mark = url.indexOf('?')
      const input = readSearch(
        mark === -1 ? url.slice(8) : url.slice(8, mark),
        mark === -1 ? '' : url.slice(mark + 1),
      )
      if (input instanceof Issues) invalid(req, res, input)
      else send(req, res, 200, publicOffers(findOffers(input)))
    },
    me: () => (req, res) => {
      if (req.method !== 'GET' || !(req.url === '/me' || req.url.startsWith('/me?')))
        return notFound(req, res)
      const claims = verifyToken(req.headers.authorization)
      if (claims === null) return send(req, res, 401, { error: 'unauthorized' })
      const { id, name, email } = claims.user
      send(req, res, 200, { id, name, email })
    },
    routes: (size) => {
      const handlers = new Map()
      for (let index = 0; index < size; index++) handlers.set(routePrefix(index).slice(1, -6), answerUser)
      return (req, res) => {
        const { url } = req
        const end = url.indexOf('/', 1)
        const handler =
          req.method === 'GET' && url.startsWith('/users/', end) ? handlers.get(url.slice(1, end)) : undefined
        if (handler === undefined) notFound(req, res)
        else handler(req, res, end + 7)
      }
    },
    middleware: () => (req, res) => {
      for (const [name, value] of EXTRA_HEADERS) res.setHeader(name, value)
      res.setHeader('X-Request-Id', randomUUID())
      user(req, res)
    },
  }
}

/** The logger is loaded only where it is used. */
async function logged(listener) {
  const { logWhenDone } = await import('./request-log.js')
  return (req, res) => {
    logWhenDone(req, res, () => (res.statusCode === 404 ? '' : '/users/:id'))
    listener(req, res)
  }
}
