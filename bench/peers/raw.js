/** Raw node:http with everything by hand: the base of all ratios. */
import { createServer } from 'node:http'
import { signTokens } from '../work/by-hand.js'
import { createListeners } from '../work/raw-listeners.js'

const LISTENERS = createListeners({ send, readJson })

export async function start(app, size) {
  const [work, setting] = app.split(':')
  const server = createServer(await LISTENERS[work](size, setting))
  await new Promise((resolve) => server.listen(0, '127.0.0.1', resolve))
  const tokens = work === 'me' ? signTokens(size) : []
  return { port: server.address().port, tokens }
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
      return send(req, res, 400, { error: 'malformed' })
    }
    next(body, req, res)
  })
}

function send(req, res, status, value) {
  const text = JSON.stringify(value)
  res.writeHead(status, {
    'Content-Type': 'application/json; charset=utf-8',
    'Content-Length': Buffer.byteLength(text),
  })
  res.end(text)
}
