/** Raw node:http with everything by hand: the base of all ratios. */
import { createServer } from 'node:http'
import { randomUUID } from 'node:crypto'
import { checkOrder, Issues, readUserInput, signTokens, verifyToken } from '../work/by-hand.js'
import { createOrder, EXTRA_HEADERS, findUser, publicOrder, publicUser, routePrefix } from '../work/data.js'

export async function start(app, size) {
  const [work] = app.split(':')
  const server = createServer(LISTENERS[work](size))
  await new Promise((resolve) => server.listen(0, '127.0.0.1', resolve))
  const tokens = work === 'me' ? signTokens(size) : []
  return { port: server.address().port, tokens }
}

const LISTENERS = {
  hello: () => (req, res) => {
    if (req.url === '/' && req.method === 'GET') send(res, 200, { hello: 'world' })
    else notFound(res)
  },
  user: () => (req, res) => {
    if (req.method === 'GET' && req.url.startsWith('/users/')) answerUser(req.url, 7, res)
    else notFound(res)
  },
  order: () => (req, res) => {
    if (req.method === 'POST' && req.url === '/orders') readJson(req, res, answerOrder)
    else notFound(res)
  },
  me: () => (req, res) => {
    if (req.method !== 'GET' || req.url !== '/me') return notFound(res)
    const claims = verifyToken(req.headers.authorization)
    if (claims === null) return send(res, 401, { error: 'unauthorized' })
    const { id, name, email } = claims.user
    send(res, 200, { id, name, email })
  },
  routes: (size) => {
    const handlers = new Map()
    for (let index = 0; index < size; index++) handlers.set(routePrefix(index).slice(1, -6), answerUser)
    return (req, res) => {
      const { url } = req
      const end = url.indexOf('/', 1)
      const handler =
        req.method === 'GET' && url.startsWith('/users/', end) ? handlers.get(url.slice(1, end)) : undefined
      if (handler === undefined) notFound(res)
      else handler(url, end + 7, res)
    }
  },
  middleware: () => (req, res) => {
    for (const [name, value] of EXTRA_HEADERS) res.setHeader(name, value)
    res.setHeader('X-Request-Id', randomUUID())
    if (req.method === 'GET' && req.url.startsWith('/users/')) answerUser(req.url, 7, res)
    else notFound(res)
  },
}

function answerUser(url, from, res) {
  const mark = url.indexOf('?', from)
  const idText = mark === -1 ? url.slice(from) : url.slice(from, mark)
  const input = readUserInput(idText, mark === -1 ? '' : url.slice(mark + 1))
  if (input instanceof Issues) return send(res, 422, { errors: input.list })
  send(res, 200, publicUser(findUser(input.id, input)))
}

function answerOrder(body, res) {
  const input = checkOrder(body)
  if (input instanceof Issues) return send(res, 422, { errors: input.list })
  send(res, 201, publicOrder(createOrder(input)))
}

function readJson(req, res, next) {
  const chunks = []
  let size = 0
  req.on('data', (chunk) => {
    size += chunk.length
    if (size > 1_048_576) req.destroy()
    else chunks.push(chunk)
  })
  req.on('end', () => {
    let body
    try {
      body = JSON.parse((chunks.length === 1 ? chunks[0] : Buffer.concat(chunks)).toString('utf8'))
    } catch {
      return send(res, 400, { error: 'malformed' })
    }
    next(body, res)
  })
}

function notFound(res) {
  send(res, 404, { error: 'not found' })
}

function send(res, status, value) {
  const text = JSON.stringify(value)
  res.writeHead(status, {
    'Content-Type': 'application/json; charset=utf-8',
    'Content-Length': Buffer.byteLength(text),
  })
  res.end(text)
}
