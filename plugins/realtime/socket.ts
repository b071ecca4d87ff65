import type { HttpError } from 'mortar'

/** The socket of a handler. Its messages are JSON values: `for await (const message of socket) socket.send(…)`. */
export interface Socket<Receive = unknown, Send = unknown> {
  /** The id of the request that opened it, as in the log. */
  readonly id: string
  /** False once either side has begun to close it. */
  readonly isOpen: boolean
  /** Bytes that wait for a slow client. */
  readonly buffered: number
  /** The messages of the client, until the socket is closed. The next one is read when the handler is ready for it. */
  [Symbol.asyncIterator](): AsyncIterator<Receive, void>
  /** Sends a message; a socket that is not open ignores it. @throws TypeError if it does not match `send`. */
  send(message: Send): void
  /** Resolves when no output waits, or the socket is closed. A handler that sends much waits for it. */
  drained(): Promise<void>
  /**
   * Closes the socket: with 1000, or a code from 3000 to 4999. A string is the reason that the client reads, at most 123
   * bytes. An `HttpError` is sent as a problem first, and its code is the reason; without a code that is 4000 and its status.
   * @throws RangeError for another code.
   */
  close(code?: number, problem?: string | HttpError): void
}
