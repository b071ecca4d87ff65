import type { Server } from 'node:net'
import { setImmediate as nextTurn } from 'node:timers/promises'

/** Resolves with the number of open connections of a server. */
export function connectionsOf(server: Server): Promise<number> {
  return new Promise((resolve, reject) => {
    server.getConnections((error, count) => (error === null ? resolve(count) : reject(error)))
  })
}

/** Resolves with the number of open connections as soon as it is 0, or after five seconds, without timers. */
export async function leftConnections(server: Server): Promise<number> {
  const end = performance.now() + 5000
  for (;;) {
    const open = await connectionsOf(server)
    if (open === 0 || performance.now() >= end) return open
    await nextTurn()
  }
}
