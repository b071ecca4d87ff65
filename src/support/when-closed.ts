import type { IncomingMessage, ServerResponse } from 'node:http'
import { forgetSocketClose, onSocketClose } from './socket-close.ts'

/** True for a closed response that was sent completely. HTTP/2 calls each closed response finished. */
export function isSentWhole(res: ServerResponse): boolean {
  return res.writableEnded && res.writableFinished
}

const WAITING = Symbol('mortar.waiting')

/** A property, because the entries of a WeakMap make each garbage collection longer. */
type WatchedResponse = ServerResponse & { [WAITING]?: (() => void)[] }

/**
 * Calls `done` when the response is closed: sent completely, or cut off. A pipelined response that waits for its turn
 * has no socket yet and never closes if the connection ends first, so the connection is watched too. One listener
 * serves all callers: with those of a stream, Node would warn of a memory leak.
 */
export function whenClosed(req: IncomingMessage, res: WatchedResponse, done: () => void): void {
  if (res.closed || res.destroyed || req.socket.destroyed) return done()
  const waiting = res[WAITING]
  // A list to which an element is added has room for sixteen more.
  res[WAITING] = waiting === undefined ? [done] : [...waiting, done]
  if (waiting !== undefined) return
  const once = (): void => {
    forgetSocketClose(req.socket, once)
    const called = res[WAITING]!
    res[WAITING] = []
    for (const each of called) each()
  }
  if (!res.socket) onSocketClose(req.socket, once)
  res.on('close', once)
}

/** Removes a callback of `whenClosed`. */
export function forgetClosed(res: WatchedResponse, done: () => void): void {
  const index = res[WAITING]?.indexOf(done) ?? -1
  if (index >= 0) res[WAITING]!.splice(index, 1)
}

/** True if something waits for the end of the response. */
export function isAwaited(res: WatchedResponse): boolean {
  const own = res[WAITING] === undefined ? 0 : 1
  return res.listenerCount('close') > own || (res[WAITING]?.length ?? 0) > 0
}
