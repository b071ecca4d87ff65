import { once } from 'node:events'
import { createServer, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import type { App } from 'mortar'
import { WebSocket } from 'ws'
import type { MessagesFrom, MessagesTo } from './define-socket.ts'

/** The part of an application that a test connects to. */
export type TestedApp = Pick<App, 'koa' | 'listening' | 'ready' | 'upgrade'>

/** Options of `connect`. */
export interface ConnectOptions {
  /** Sent as `Authorization: Bearer`. */
  readonly token?: string
  readonly headers?: Readonly<Record<string, string>>
}

/** The end of a socket. */
export interface ClosedSocket {
  readonly code: number
  readonly reason: string
}

/** The client side of a socket under test. */
export interface TestSocket<Send = unknown, Receive = unknown> {
  send(message: Send): void
  /** Sends a string as it is. */
  sendText(text: string): void
  /** The next message or problem. @throws Error if the socket is closed before. */
  next(): Promise<Receive>
  close(code?: number, reason?: string): void
  /** Resolves when the socket is closed. */
  readonly closed: Promise<ClosedSocket>
}

/** The error of a handshake that the application has refused, with its response. */
export class HandshakeRefused extends Error {
  readonly status: number
  readonly headers: Readonly<Record<string, string | string[] | undefined>>
  /** The problem document. */
  readonly body: unknown

  constructor(status: number, headers: HandshakeRefused['headers'], body: unknown) {
    super(`The handshake was refused with ${status}.`)
    this.name = 'HandshakeRefused'
    this.status = status
    this.headers = headers
    this.body = body
  }
}

/**
 * Opens a socket of an application: at its own address if it listens, else through `app.koa` on a port of this machine. With
 * the type of the route its messages are typed:
 * `await connect<typeof import('../routes/rooms/[id].ws.ts').default>(app, '/rooms/7', { token })`.
 * @throws HandshakeRefused if the application responds with anything but 101.
 */
export async function connect<Route = unknown>(
  app: TestedApp,
  path: string,
  { token, headers = {} }: ConnectOptions = {},
): Promise<TestSocket<MessagesTo<Route>, MessagesFrom<Route>>> {
  await app.ready()
  const server = app.listening === undefined ? await serve(app) : undefined
  const address = app.listening?.url ?? `http://127.0.0.1:${(server!.address() as AddressInfo).port}`
  const ws = new WebSocket(address.replace('http', 'ws') + path, {
    headers: { ...headers, ...(token !== undefined && { authorization: `Bearer ${token}` }) },
  })
  ws.once('close', () => server?.close())
  return testSocketOf(ws)
}

async function serve(app: TestedApp): Promise<Server> {
  const listener = app.koa.callback()
  const server = createServer((req, res) => void listener(req, res))
  app.upgrade(server)
  await once(server.listen(0, '127.0.0.1'), 'listening')
  return server
}

function testSocketOf(ws: WebSocket): Promise<TestSocket<never, never>> {
  const messages: unknown[] = []
  let wake: (() => void) | undefined
  const closed = new Promise<ClosedSocket>((resolve) => {
    ws.on('close', (code, reason) => {
      resolve({ code, reason: String(reason) })
      wake?.()
    })
  })
  ws.on('message', (data) => {
    messages.push(JSON.parse((data as Buffer).toString()))
    wake?.()
  })
  async function next(): Promise<never> {
    while (messages.length === 0) {
      if (ws.readyState === WebSocket.CLOSED) throw new Error('The socket is closed.')
      await new Promise<void>((resolve) => {
        wake = resolve
      })
    }
    return messages.shift() as never
  }
  return new Promise((resolve, reject) => {
    ws.on('error', reject)
    ws.on('unexpected-response', (_req, res) => {
      let text = ''
      res.setEncoding('utf8').on('data', (chunk: string) => (text += chunk))
      res.on('end', () => {
        ws.terminate()
        reject(new HandshakeRefused(res.statusCode!, res.headers, parsed(text)))
      })
    })
    ws.on('open', () =>
      resolve({
        send: (message) => ws.send(JSON.stringify(message)),
        sendText: (text) => ws.send(text),
        next,
        close: (code, reason) => ws.close(code, reason),
        closed,
      }),
    )
  })
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return text
  }
}
