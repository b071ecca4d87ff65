import { createServer, type Server, STATUS_CODES } from 'node:http'
import type { Socket } from 'node:net'
import { PROBLEM_TYPE } from '../../errors/problem.ts'

/** Text of the response, and true for a port that expects TLS. */
export interface Refusal {
  readonly text: string
  readonly isTls: boolean
}

/** Seconds after which a client may try again. */
const RETRY_AFTER = 1

/** Milliseconds for a request. Node's own limits apply only to a server that listens itself. */
const LONGEST = 2000

/**
 * Responds to the requests of a connection with status 503 and the text. A connection that expects TLS is closed,
 * because this process has no certificate.
 */
export function refuseConnection(socket: Socket, { text, isTls }: Refusal): void {
  if (isTls) return void socket.destroy()
  const timer = setTimeout(() => socket.destroy(), LONGEST)
  socket.once('close', () => clearTimeout(timer))
  // Neither may delay the end of this process.
  timer.unref()
  socket.unref()
  serverFor(text).emit('connection', socket)
  socket.resume()
}

function serverFor(detail: string): Server {
  const status = 503
  const body = {
    type: 'about:blank',
    title: STATUS_CODES[status],
    status,
    detail,
    code: 'service_unavailable',
  }
  return createServer((_request, response) => {
    response.writeHead(status, {
      'Content-Type': PROBLEM_TYPE,
      'Cache-Control': 'no-store',
      'Retry-After': RETRY_AFTER,
      Connection: 'close',
    })
    response.end(JSON.stringify(body))
  })
}
