import type { Link } from './link.ts'

/** Milliseconds for a server to close a connection that the pool has ended. */
const CLOSING = 1000

/**
 * Closes the socket of a connection that the pool has ended, if the server does not. A server that is silent never
 * does, and then the process would not end. A statement that is running may finish.
 */
export function closeLate(link: Link): void {
  const timer = setInterval(() => {
    if (link.askedAt === undefined) link.socket().destroy()
  }, CLOSING).unref()
  link.socket().once('close', () => clearInterval(timer))
}
