/**
 * A request as the bytes of HTTP/1.1, one character each.
 * @param {{ method: string, path: string, headers: object, body?: string, tail?: string }} request
 */
export function wireOf(request) {
  const { tail = '' } = request
  return Buffer.from(headOf(request, Buffer.byteLength(tail)) + tail).toString('latin1')
}

/**
 * A request without the tail of its body, whose length is counted.
 * @param {{ method: string, path: string, headers: object, body?: string }} request
 * @param {number} tailLength in bytes
 */
export function headOf({ method, path, headers, body }, tailLength) {
  const lines = [`${method} ${path} HTTP/1.1`, 'Host: localhost']
  for (const [name, value] of Object.entries(headers)) lines.push(`${name}: ${value}`)
  if (body !== undefined) lines.push(`Content-Length: ${Buffer.byteLength(body) + tailLength}`)
  return `${lines.join('\r\n')}\r\n\r\n${body ?? ''}`
}
