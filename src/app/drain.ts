import type { Server } from 'node:http'
import type { Socket } from 'node:net'
import { currentResponse } from '../compat/node.ts'
import { setImmediate as nextTurn, setTimeout as wait } from 'node:timers/promises'

/** The open connections of a server. */
export interface Connections {
  /** Connections that speak HTTP: with TLS, those whose handshake is done. */
  readonly http: ReadonlySet<Socket>
  /** Every TCP connection. */
  readonly tcp: ReadonlySet<Socket>
}

/** Keeps count of the connections of a server. */
export function trackConnections(server: Server, isTls: boolean): Connections {
  const tcp = track(server, 'connection')
  return { tcp, http: isTls ? track(server, 'secureConnection') : tcp }
}

function track(server: Server, event: 'connection' | 'secureConnection'): ReadonlySet<Socket> {
  const sockets = new Set<Socket>()
  server.on(event, (socket: Socket) => {
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

/** Accepts nothing new, lets requests in flight finish for at most `timeout` seconds, and ends every connection. */
export async function drain(server: Server, connections: Connections, timeout: number): Promise<void> {
  if (connections.tcp.size > 0) await requestsUnderWay()
  const closed = new Promise<void>((resolve) => {
    server.close(() => resolve())
  })
  const sweep = createSweep(server, connections.http)
  sweep()
  const sweeping = setInterval(sweep, SWEEP)
  const deadline = setTimeout(() => {
    for (const socket of connections.tcp) socket.destroy()
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

/** Node keeps the current response of a connection on its socket, and exposes it in no other way. */
function isAnswering(socket: Socket): boolean {
  return currentResponse(socket) !== undefined
}
