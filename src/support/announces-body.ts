import type { IncomingMessage } from 'node:http'

/**
 * True for a request whose headers announce a body (RFC 9112 §6.3). In HTTP/2 the HEADERS frame announces it (RFC 9113
 * §8.1), and neither header is needed.
 */
export function announcesBody(req: IncomingMessage): boolean {
  const { headers, httpVersionMajor } = req
  const length = headers['content-length']
  if (headers['transfer-encoding'] !== undefined || (length !== undefined && length !== '0')) return true
  return httpVersionMajor === 2 && length === undefined && !endsWithHeaders(req)
}

function endsWithHeaders(req: object): boolean {
  return (req as { readonly stream?: { readonly endAfterHeaders?: boolean } }).stream?.endAfterHeaders ?? true
}
