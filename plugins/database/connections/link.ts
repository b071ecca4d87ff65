import type { Socket } from 'node:net'

/** The state of one connection of a pool. Times are those of `performance.now()`. */
export interface Link {
  /** The socket that carries the connection now; TLS may replace it. */
  readonly socket: () => Socket
  /** True until the server has accepted the connection. */
  connecting: boolean
  /** The start of the wait for the server's next response; undefined while none is due. */
  askedAt: number | undefined
  /** True while `askedAt` belongs to a statement of the pool itself, which takes no time. */
  isCheck: boolean
  /** The last time at which the connection is known to have worked. */
  heardAt: number
  /** The server's number of the session, and the server, once a check has told them. */
  identity: Identity | undefined
  /** Bytes that were read at the last look, and written when the server began to owe a response. */
  bytesRead: number
  bytesAsked: number
  /** Milliseconds without a byte, counted while a response is due. */
  silentFor: number
  /** True if the server of the connection accepts no writes: it is not lent again. */
  isRetired: boolean
  /** True if a probe has shown that no response will come, unless a byte arrives until the next look. */
  doomed: boolean
}

/** Names one session of one start of a server. */
export interface Identity {
  readonly session: number
  readonly server: string
}

/** The identity of a session that its server does not list, for example behind a pooler. */
export const HIDDEN: Identity = { session: 0, server: '' }

/** Makes the link of a connection that is being opened. */
export function createLink(socket: () => Socket): Link {
  const now = performance.now()
  return {
    socket,
    connecting: true,
    askedAt: now,
    isCheck: false,
    heardAt: now,
    identity: undefined,
    bytesRead: 0,
    bytesAsked: 0,
    silentFor: 0,
    isRetired: false,
    doomed: false,
  }
}
