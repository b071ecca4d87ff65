import { readdirSync } from 'node:fs'
import { tmpdir } from 'node:os'

/** A multipart body with the boundary `B`, written by hand: each part is `[headers, content]`. */
export function multipart(...parts: readonly (readonly [head: string, content: string])[]): string {
  return `${parts.map(([head, content]) => `--B\r\n${head}\r\n\r\n${content}\r\n`).join('')}--B--\r\n`
}

/** The `Content-Type` of the body from `multipart`. */
export const MULTIPART_B = 'multipart/form-data; boundary=B'

/** The header of a part: `disposition('name="a"')`. */
export function disposition(parameters: string): string {
  return `Content-Disposition: form-data; ${parameters}`
}

/** The bytes of a chunked POST, in chunks of `size` bytes. */
export function chunkedPost(path: string, body: string | Buffer, size: number, type = MULTIPART_B): Buffer {
  const bytes = Buffer.from(body as string, 'latin1')
  const head = `POST ${path} HTTP/1.1\r\nHost: x\r\nContent-Type: ${type}\r\nTransfer-Encoding: chunked\r\n`
  const chunks = Array.from({ length: Math.ceil(bytes.length / size) }, (_, index) => {
    const chunk = bytes.subarray(index * size, (index + 1) * size)
    return Buffer.concat([Buffer.from(`${chunk.length.toString(16)}\r\n`), chunk, Buffer.from('\r\n')])
  })
  return Buffer.concat([Buffer.from(`${head}Connection: close\r\n\r\n`), ...chunks, Buffer.from('0\r\n\r\n')])
}

/** Names of the uploads of this process that are still in the temp folder. */
export function temporaryFiles(): string[] {
  return readdirSync(tmpdir()).filter((name) => name.startsWith(`upload-${process.pid}-`))
}
