/** Raw node:http and the bare driver, everything by hand; the token is verified on each request. */
import { createServer } from 'node:http'
import { signTokens, verifyToken } from '../../work/by-hand.js'
import { openNotes } from '../../work/notes/drivers.js'

export async function start(database, users) {
  const list = await openNotes(database, process.env.DATABASE_URL)
  const server = createServer((req, res) => {
    void answer(req, res, list)
  })
  await new Promise((resolve) => server.listen(0, '127.0.0.1', resolve))
  return { port: server.address().port, tokens: signTokens(users) }
}

async function answer(req, res, list) {
  try {
    await answerNotes(req, res, list)
  } catch (error) {
    send(res, 500, { error: String(error) })
  }
}

async function answerNotes(req, res, list) {
  const { url } = req
  if (req.method !== 'GET' || !url.startsWith('/notes?')) return send(res, 404, { error: 'not found' })
  const claims = verifyToken(req.headers.authorization)
  if (claims === null) return send(res, 401, { error: 'unauthorized' })
  const filter = readFilter(url.slice(7))
  if (filter === undefined) return send(res, 422, { error: 'invalid' })
  send(res, 200, await list(claims.sub, filter))
}

const NUMBER = /^\d{1,9}$/

function readFilter(search) {
  const filter = { archived: false, limit: 20, offset: 0 }
  for (const pair of search.split('&')) {
    const mark = pair.indexOf('=')
    const name = pair.slice(0, mark)
    const text = pair.slice(mark + 1)
    if (name === 'archived') {
      if (text !== 'true' && text !== 'false') return undefined
      filter.archived = text === 'true'
    } else if (name === 'limit' || name === 'offset') {
      if (!NUMBER.test(text)) return undefined
      filter[name] = Number(text)
    }
  }
  return filter.limit >= 1 && filter.limit <= 100 ? filter : undefined
}

function send(res, status, value) {
  const text = JSON.stringify(value)
  res.writeHead(status, {
    'Content-Type': 'application/json; charset=utf-8',
    'Content-Length': Buffer.byteLength(text),
  })
  res.end(text)
}
