import type { IncomingMessage } from 'node:http'

/** True for a request whose headers say that a body follows (RFC 9112 §6.3). */
export function announcesBody({ headers }: IncomingMessage): boolean {
  const length = headers['content-length']
  return headers['transfer-encoding'] !== undefined || (length !== undefined && length !== '0')
}
