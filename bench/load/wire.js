/**
 * A request as the bytes of HTTP/1.1, one character each.
 * @param {{ method: string, path: string, headers: object, body?: string }} request
 */
export function wireOf({ method, path, headers, body }) {
  const lines = [`${method} ${path} HTTP/1.1`, 'Host: localhost']
  for (const [name, value] of Object.entries(headers)) lines.push(`${name}: ${value}`)
  if (body !== undefined) lines.push(`Content-Length: ${Buffer.byteLength(body)}`)
  return Buffer.from(`${lines.join('\r\n')}\r\n\r\n${body ?? ''}`).toString('latin1')
}
