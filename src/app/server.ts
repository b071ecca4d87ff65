import type { IncomingMessage, Server, ServerResponse } from 'node:http'
import type { AddressInfo, Socket } from 'node:net'
import { setImmediate as nextTurn, setTimeout as wait } from 'node:timers/promises'
import { StartupError } from '../errors/startup-error.ts'
import type { Listening } from './app.ts'
import { createHttpServer, type ListenerState } from './listener.ts'

/** The HTTP server of an application while it runs. */
export interface RunningServer extends Listening {
  /** Accepts nothing new, lets requests in flight finish for at most `timeout` seconds, and ends every connection. */
  drain(timeout: number): Promise<void>
}

/** Starts to listen. @throws StartupError when the address cannot be had. */
export async function startServer(
  handle: (req: IncomingMessage, res: ServerResponse) => void,
  address: { readonly port: number; readonly host: string | undefined },
  state: ListenerState,
): Promise<RunningServer> {
  const server = createHttpServer(handle)
  const sockets = openSockets(server)
  await bind(server, address)
  const { port, address: host } = server.address() as AddressInfo
  return {
    url: `http://${hostForUrl(host)}:${port}`,
    port,
    host,
    drain: (timeout) => drain(server, sockets, timeout, state),
  }
}

function bind(server: Server, { port, host }: { port: number; host: string | undefined }): Promise<void> {
  return new Promise((resolve, reject) => {
    const refuse = (cause: NodeJS.ErrnoException): void => reject(cannotListen(cause, port))
    server.once('error', refuse)
    try {
      server.listen({ port, ...(host === undefined ? {} : { host }) }, resolve)
    } catch (cause) {
      // A port that is no number from 0 to 65535.
      refuse(cause as NodeJS.ErrnoException)
    }
  })
}

function cannotListen(cause: NodeJS.ErrnoException, port: number): StartupError {
  const remedies: Readonly<Record<string, string>> = {
    EADDRINUSE: 'Stop the process that uses it, or set PORT to another one.',
    EACCES: 'Take a port above 1023, or give the process the right to use this one.',
  }
  return new StartupError(`The application cannot listen on port ${port}: ${cause.code ?? cause.message}.`, {
    code: 'MORTAR_LISTEN',
    remedy: remedies[cause.code ?? ''] ?? 'Check host and port.',
    cause,
  })
}

function openSockets(server: Server): ReadonlySet<Socket> {
  const sockets = new Set<Socket>()
  server.on('connection', (socket: Socket) => {
    sockets.add(socket)
    socket.once('close', () => sockets.delete(socket))
  })
  return sockets
}

/** Milliseconds in which requests that were under way arrive, before connections without a request are ended. */
const GRACE = 10
/** A turn of the event loop after it reads what has come in while this process was busy. */
async function requestsUnderWay(): Promise<void> {
  await wait(GRACE)
  for (let turn = 0; turn < 3; turn++) await nextTurn()
}

/** Milliseconds between two looks for connections that have nothing more to wait for. */
const SWEEP = 50

async function drain(
  server: Server,
  sockets: ReadonlySet<Socket>,
  timeout: number,
  state: ListenerState,
): Promise<void> {
  // From here on each response ends its connection, so that a client learns of the end before it asks again.
  state.closing = true
  if (sockets.size > 0) await requestsUnderWay()
  const closed = new Promise<void>((resolve) => {
    server.close(() => resolve())
  })
  const sweep = createSweep(server, sockets)
  sweep()
  const sweeping = setInterval(sweep, SWEEP)
  const deadline = setTimeout(() => {
    for (const socket of sockets) socket.destroy()
  }, timeout * 1000)
  await closed
  clearInterval(sweeping)
  clearTimeout(deadline)
}

/**
 * Ends the connections that have been answered, and those on which no request is complete and nothing has moved since the
 * last look: browsers open some in advance.
 */
function createSweep(server: Server, sockets: ReadonlySet<Socket>): () => void {
  const seen = new WeakMap<Socket, number>()
  return () => {
    server.closeIdleConnections()
    for (const socket of sockets) {
      const quiet = seen.get(socket) === socket.bytesRead || socket.bytesRead === 0
      if (quiet && !isAnswering(socket)) socket.destroy()
      seen.set(socket, socket.bytesRead)
    }
  }
}

/** Node keeps the present response of a connection on its socket, and tells of it in no other way. */
function isAnswering(socket: Socket): boolean {
  return Boolean((socket as { _httpMessage?: unknown })._httpMessage)
}

/** An unspecified address is reached through the loopback one, and IPv6 stands in brackets (RFC 3986 §3.2.2). */
function hostForUrl(host: string): string {
  if (host === '::' || host === '0.0.0.0') return 'localhost'
  return host.includes(':') ? `[${host}]` : host
}
