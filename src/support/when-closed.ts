import type { IncomingMessage, ServerResponse } from 'node:http'
import { forgetSocketClose, onSocketClose } from './socket-close.ts'

/**
 * Calls `done` when the response is closed: sent completely, or cut off. A pipelined response that waits for its turn
 * has no socket yet and never closes if the connection ends first, so the connection is watched too.
 */
export function whenClosed(req: IncomingMessage, res: ServerResponse, done: () => void): void {
  if (res.closed || res.destroyed || req.socket.destroyed) return done()
  let isDone = false
  const once = (): void => {
    if (isDone) return
    isDone = true
    forgetSocketClose(req.socket, once)
    done()
  }
  if (!res.socket) onSocketClose(req.socket, once)
  res.once('close', once)
}
