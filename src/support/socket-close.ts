import type { Socket } from 'node:net'

const waiting = new WeakMap<Socket, Set<() => void>>()

/**
 * Calls `act` once when a connection closes, until `forgetSocketClose`. One listener serves all requests of a
 * connection: a client may send hundreds of them ahead, and Node warns of a memory leak at eleven listeners.
 */
export function onSocketClose(socket: Socket, act: () => void): void {
  const known = waiting.get(socket)
  if (known !== undefined) {
    known.add(act)
    return
  }
  const acts = new Set([act])
  waiting.set(socket, acts)
  socket.once('close', () => {
    for (const each of acts) each()
  })
}

/** Removes a callback of `onSocketClose`. */
export function forgetSocketClose(socket: Socket, act: () => void): void {
  waiting.get(socket)?.delete(act)
}
