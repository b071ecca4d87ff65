import type { ServerResponse } from 'node:http'
import { Server } from 'node:net'
import { setTimeout as wait } from 'node:timers/promises'
import { promisify } from 'node:util'

/** Milliseconds for which a replaced worker keeps connections that are idle, or that have not sent a request yet. */
export const LONGEST_LEAVE = 2000
const STEP = 20

/**
 * Hands the clients of a server over to the other workers: it accepts nothing new, and each connection closes with its
 * next response. Closing idle connections immediately would lose requests that are on their way. Resolves when no
 * connection is left, or when its time is over.
 * @param untilClosed waits until the primary process knows that the server accepts nothing new. A worker that ended before
 * would lose the connections that are on their way to it.
 * @param longest milliseconds for all of it.
 */
export async function leaveClients(
  server: Server | undefined,
  untilClosed: () => Promise<void>,
  longest = LONGEST_LEAVE,
): Promise<void> {
  if (!server?.listening) return
  server.prependListener('request', (_request: unknown, response: ServerResponse) => {
    response.shouldKeepAlive = false
  })
  // The method of http.Server would close idle connections.
  Server.prototype.close.call(server)
  const count = promisify(server.getConnections.bind(server))
  const begin = performance.now()
  await Promise.race([untilClosed(), wait(longest, undefined, { ref: false })])
  while (performance.now() - begin < longest && (await count().catch(() => 0)) > 0) await wait(STEP)
}
