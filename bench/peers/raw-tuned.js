/**
 * As `raw`, with every trick of Mortar's listener:
 * - the headers of a response are one flat list, which Node does not turn into an object first;
 * - a response of ASCII characters alone is written as latin1, which needs no encoder;
 * - `_dumped`, a private flag of Node, marks a finished request as completely read;
 * - a body that came in one packet with its head is taken in the next tick, without a stream's events;
 * - one object of `process.nextTick` is kept alive, see src/compat/node.ts.
 */
import { executionAsyncResource } from 'node:async_hooks'
import { createServer } from 'node:http'
import { signTokens } from '../work/by-hand.js'
import { createListeners } from '../work/raw-listeners.js'

const kept = []
process.nextTick(() => (kept[0] = executionAsyncResource()))

const MOST_BYTES = 1_048_576
const LISTENERS = createListeners({ send, readJson })

export async function start(app, size) {
  const [work, setting] = app.split(':')
  const server = createServer(await LISTENERS[work](size, setting))
  await new Promise((resolve) => server.listen(0, '127.0.0.1', resolve))
  const tokens = work === 'me' ? signTokens(size) : []
  return { port: server.address().port, tokens }
}

function readJson(req, res, next) {
  process.nextTick(() => {
    const length = Number(req.headers['content-length'])
    const isWhole = req.complete || req.readableLength === length
    const content = isWhole && length <= MOST_BYTES ? req.read(req.readableLength) : null
    if (content === null) return readChunks(req, res, next)
    req._consuming = false
    req.isBodyTaken = true
    parse(content, req, res, next)
  })
}

function readChunks(req, res, next) {
  const chunks = []
  let size = 0
  req.on('data', (chunk) => {
    size += chunk.length
    if (size > MOST_BYTES) req.destroy()
    else chunks.push(chunk)
  })
  req.on('end', () => parse(chunks.length === 1 ? chunks[0] : Buffer.concat(chunks), req, res, next))
}

function parse(content, req, res, next) {
  let body
  try {
    body = JSON.parse(content.toString('utf8'))
  } catch {
    return send(req, res, 400, { error: 'malformed' })
  }
  next(body, req, res)
}

function send(req, res, status, value) {
  if (req.method === 'GET' || req.isBodyTaken) req._dumped = true
  const text = JSON.stringify(value)
  const length = Buffer.byteLength(text)
  res.writeHead(status, ['Content-Length', String(length), 'Content-Type', 'application/json; charset=utf-8'])
  res.end(text, length === text.length ? 'latin1' : 'utf8')
}
