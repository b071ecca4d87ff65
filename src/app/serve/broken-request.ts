import type { IncomingMessage, Server, ServerResponse } from 'node:http'
import type { Socket } from 'node:net'
import { currentResponse } from '../../compat/node.ts'
import { requestId } from '../../context/request-id.ts'
import { HttpError } from '../../errors/http-error.ts'
import { PROBLEM_TYPE, problemText } from '../../errors/problem.ts'
import { STATUS_CODES } from '../../errors/status-names.ts'

interface Refusal {
  readonly status: number
  readonly detail: string
}

const UNREADABLE: Refusal = { status: 400, detail: 'The request cannot be read as HTTP.' }

/** Codes of a client that has left, and of a failed TLS handshake, after which no written response is ever sent. */
const NO_RESPONSE = /^(?:ECONNRESET$|ERR_(?:SSL|TLS)_)/

/** Refusals by the code of Node's error. */
const REFUSALS: Readonly<Record<string, Refusal>> = {
  HPE_HEADER_OVERFLOW: { status: 431, detail: 'The headers of the request are too large.' },
  HPE_CHUNK_EXTENSIONS_OVERFLOW: { status: 413, detail: 'The chunk extensions of the body are too large.' },
  ERR_HTTP_REQUEST_TIMEOUT: { status: 408, detail: 'The request did not arrive in time.' },
}

/** Sends a problem document for a request that Node cannot parse or receive in time, and closes the connection. */
export function answerBrokenRequests(server: Server): void {
  server.on('clientError', answerParseError)
  server.on('checkExpectation', (_req, res) =>
    refuse(res, { status: 417, detail: 'The Expect header supports only 100-continue.' }),
  )
}

/**
 * Sends `100 Continue` when the body of its request is first read. A response without it ends the connection: the client
 * may send the body or another request (RFC 9110 §10.1.1).
 */
export function continueWhenRead(server: Server): void {
  server.on('checkContinue', (req, res) => {
    const { _read } = req
    const { shouldKeepAlive } = res
    res.shouldKeepAlive = false
    req._read = (size) => {
      Object.assign(req, { _read })
      if (!res.headersSent) Object.assign(res, { shouldKeepAlive }).writeContinue()
      req._read(size)
    }
    server.emit('request', req, res)
  })
}

/**
 * Refuses a request without a `Host`, or with more than one, with 400 (RFC 9112 §3.2). Node itself sends an empty
 * response to the first and accepts the second.
 * @returns true when the request was refused.
 */
export function refuseWrongHost(req: IncomingMessage, res: ServerResponse): boolean {
  const hosts = countHosts(req.rawHeaders)
  if (hosts === 1 || (hosts === 0 && Number(req.httpVersion) < 1.1)) return false
  const found = hosts === 0 ? 'no' : 'more than one'
  refuse(res, { status: 400, detail: `The request has ${found} Host header.` })
  return true
}

function countHosts(rawHeaders: readonly string[]): number {
  let hosts = 0
  for (let index = 0; index < rawHeaders.length; index += 2) {
    const name = rawHeaders[index]!
    if (name.length === 4 && name.toLowerCase() === 'host') hosts += 1
  }
  return hosts
}

function refuse(res: ServerResponse, refusal: Refusal): void {
  const body = textOf(refusal)
  res.writeHead(refusal.status, headersFor(body)).end(body)
}

function headersFor(body: string): Record<string, string | number> {
  return { Connection: 'close', 'Content-Type': PROBLEM_TYPE, 'Content-Length': Buffer.byteLength(body) }
}

function answerParseError(error: NodeJS.ErrnoException, socket: Socket): void {
  // Node has the same rule: never write a second response into one that has begun.
  const begun = currentResponse(socket)?.headersSent === true
  if (NO_RESPONSE.test(error.code ?? '') || !socket.writable || begun) return void socket.destroy()
  const refusal = REFUSALS[error.code ?? ''] ?? UNREADABLE
  const body = textOf(refusal)
  const headers = Object.entries(headersFor(body)).map(([name, value]) => `${name}: ${value}\r\n`)
  socket.end(`HTTP/1.1 ${refusal.status} ${STATUS_CODES[refusal.status]}\r\n${headers.join('')}\r\n${body}`)
  // Otherwise a client that never closes its side would keep the connection open.
  socket.once('finish', () => socket.destroySoon())
}

function textOf({ status, detail }: Refusal): string {
  return problemText(new HttpError(status, detail), requestId(undefined), { exposeUnexpected: false })
}
