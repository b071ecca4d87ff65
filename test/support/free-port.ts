import { once } from 'node:events'
import { createServer } from 'node:net'

/** Below the ports that systems give to connections: one of those could take the port before its server begins. */
const FIRST = 20_000
const LAST = 32_000
/** Each worker of a parallel run has ports of its own. */
const WORKERS = 8

const share = (LAST - FIRST) / WORKERS
const from = FIRST + (Number(process.env['MOCHA_WORKER_ID'] ?? 0) % WORKERS) * share
let next = process.pid % share

/** A port on which no process listens, and that this process has not named before. */
export async function freePort(): Promise<number> {
  for (;;) {
    const port = from + (next++ % share)
    const server = createServer().listen(port, '127.0.0.1')
    const isFree = await once(server, 'listening').then(
      () => true,
      () => false,
    )
    if (!isFree) continue
    server.close()
    await once(server, 'close')
    return port
  }
}
