import type { IncomingMessage, Server } from 'node:http'
import type { Socket } from 'node:net'
import { currentResponse } from '../../compat/node.ts'
import { isTaken } from '../../context/takeover.ts'
import { setImmediate as nextTurn, setTimeout as wait } from 'node:timers/promises'

/** The open connections of a server. */
export interface Connections {
  /** Connections that speak HTTP. With TLS, only connections whose handshake is done. */
  readonly http: ReadonlySet<Socket>
  /** Every TCP connection. */
  readonly tcp: ReadonlySet<Socket>
}

/** Tracks the open connections of a server. */
export function trackConnections(server: Server, isTls: boolean): Connections {
  const tcp = track(server, 'connection')
  return { tcp, http: isTls ? track(server, 'secureConnection') : tcp }
}

function track(server: Server, event: 'connection' | 'secureConnection'): ReadonlySet<Socket> {
  const sockets = new Set<Socket>()
  // One function for all: an idle connection has nothing else of its own here.
  function forget(this: Socket): void {
    sockets.delete(this)
  }
  server.on(event, (socket: Socket) => {
    // A connection that asked for a protocol which nobody speaks comes again.
    if (sockets.has(socket)) return
    sockets.add(socket)
    // Node keeps the address that was read once, and does not know it any more when the client has left.
    void socket.remoteAddress
    socket.on('close', forget)
  })
  return sockets
}

/** Milliseconds to wait for requests that are still arriving before idle connections are closed. */
const GRACE = 10
/** Waits until the event loop has read the bytes that arrived while this process was busy. */
async function requestsUnderWay(): Promise<void> {
  await wait(GRACE)
  for (let turn = 0; turn < 3; turn++) await nextTurn()
}

/** Milliseconds between two sweeps for connections that can be closed. */
const SWEEP = 50

/**
 * Accepts nothing new, lets requests in flight finish for at most `timeout` seconds, and ends every connection. Returns
 * the requests that had not finished by then.
 */
export async function drain(
  server: Server,
  connections: Connections,
  timeout: number,
): Promise<readonly IncomingMessage[]> {
  if (connections.tcp.size > 0) await requestsUnderWay()
  spareUnsent(server, connections.http)
  const closed = new Promise<void>((resolve) => {
    server.close(() => resolve())
  })
  const sweep = createSweep(server, connections.http)
  sweep()
  const sweeping = setInterval(sweep, SWEEP)
  let unfinished: readonly IncomingMessage[] = []
  const deadline = setTimeout(() => {
    unfinished = [...connections.http].flatMap((socket) => currentResponse(socket)?.req ?? [])
    for (const socket of connections.tcp) socket.destroy()
  }, timeout * 1000)
  await closed
  clearInterval(sweeping)
  clearTimeout(deadline)
  return unfinished
}

/**
 * Node calls a connection idle when its response has ended, although its client may be slow and most of the response may
 * still be in this process. `close()` and `closeIdleConnections()` then cut the response. This keeps such connections.
 */
function spareUnsent(server: Server, sockets: ReadonlySet<Socket>): void {
  const closeIdle = server.closeIdleConnections.bind(server)
  server.closeIdleConnections = () => {
    const unsent = [...sockets].filter((socket) => isAnswering(socket))
    for (const socket of unsent) socket.destroy = () => socket
    closeIdle()
    for (const socket of unsent) delete (socket as Partial<Socket>).destroy
  }
}

/**
 * Closes connections whose response is complete, and connections without a complete request and without traffic since
 * the last sweep. Browsers open such connections in advance.
 */
function createSweep(server: Server, sockets: ReadonlySet<Socket>): () => void {
  const seen = new WeakMap<Socket, number>()
  return () => {
    server.closeIdleConnections()
    for (const socket of sockets) {
      // A connection accepted just now has no bytes yet, and its request may be under way.
      const isQuiet = seen.get(socket) === socket.bytesRead
      if (isQuiet && !isAnswering(socket) && !isTaken(socket)) socket.destroy()
      seen.set(socket, socket.bytesRead)
    }
  }
}

/** True while the connection sends a response. Node exposes the current response only on the socket. */
function isAnswering(socket: Socket): boolean {
  return currentResponse(socket) !== undefined
}
