import type { Close } from './close-codes.ts'
import type { Settings } from './options.ts'

/** Numbers of messages: of one socket for its line in the log, or of all. */
export interface SocketCounts {
  received: number
  sent: number
}

/** A socket as its process sees it. */
export interface OpenSocket {
  /** Asks the client for a sign of life, or gives up a connection without one since the last call. */
  ping(): void
  /** Begins the closing handshake. No further message reaches the handler. */
  finish(close: Close): void
}

/** The sockets of a process, as one of them sees them. */
export interface SocketPlaces {
  readonly settings: Settings
  readonly totals: SocketCounts
  /** Takes a place for a client, until `leave`. @throws HttpError if none is left. */
  enter(client: string): void
  leave(client: string): void
  /** Watches a socket for a lost client. @returns the set from which it is removed when it is closed. */
  watch(socket: OpenSocket): Set<OpenSocket>
  /** Counts a connection until `ended`. */
  begun(): void
  ended(): void
  countClosed(code: number): void
}
