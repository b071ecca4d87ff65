import type { ServerResponse } from 'node:http'

const WRITTEN = Symbol('written')

type Counted = ServerResponse & { [WRITTEN]?: number }

/** Counts the bytes of the body that code writes itself, which Node does not tell. Call it before such code runs. */
export function countWritten(res: Counted): void {
  if (res[WRITTEN] !== undefined) return
  res[WRITTEN] = 0
  const write = res.write.bind(res) as (...given: readonly unknown[]) => boolean
  res.write = (chunk: string | Uint8Array, ...rest: readonly unknown[]) => {
    const [encoding] = rest as [BufferEncoding?]
    res[WRITTEN] += typeof chunk === 'string' ? Buffer.byteLength(chunk, encoding) : (chunk?.length ?? 0)
    return write(chunk, ...rest)
  }
}

/** Returns the number of bytes of the body that code has written since `countWritten`. */
export function bytesWrittenTo(res: Counted): number {
  return res[WRITTEN] ?? 0
}
