import type { ServerResponse } from 'node:http'
import { pipeline, Transform, type Readable } from 'node:stream'
import { ignore } from '../support/ignore.ts'

/**
 * Waits for the first bytes of a stream, or its end, before anything is sent: a file that is not there can then still be
 * answered with a problem. A stream whose client leaves meanwhile is closed. Rejects with the stream's error.
 * @param hasty waits for nothing but what fails at once: until a file is open, one turn of the event loop otherwise.
 */
export function whenReadable(stream: Readable, res: ServerResponse, hasty: boolean): Promise<void> {
  // Without a listener, an error of a stream ends the process.
  stream.on('error', ignore)
  if (stream.errored) return Promise.reject(stream.errored)
  if (stream.destroyed) return Promise.reject(closedUnread())
  if (stream.readableLength > 0 || stream.readableFlowing === true) return Promise.resolve()
  return new Promise((resolve, reject) => {
    const settle = (error?: Error): void => {
      stream.off('readable', onReadable).off('error', settle).off('close', onClose).off('open', onReadable)
      res.off('close', onLeave)
      if (error === undefined) resolve()
      else reject(error)
    }
    const onReadable = (): void => settle()
    const onClose = (): void => settle(stream.readableEnded || res.destroyed ? undefined : closedUnread())
    const onLeave = (): void => void stream.destroy()
    stream.on('readable', onReadable).on('error', settle).on('close', onClose)
    res.on('close', onLeave)
    if (hasty && isOpening(stream)) stream.on('open', onReadable)
    else if (hasty) setImmediate(onReadable)
  })
}

/** True for a file stream whose file is not open yet. */
function isOpening(stream: Readable & { readonly pending?: unknown }): boolean {
  return stream.pending === true
}

/** A stream of objects as one of bytes: a chunk that is neither text nor bytes is an error of it, and not of the process. */
export function bytesOf(objects: Readable): Readable {
  const bytes = new Transform({
    writableObjectMode: true,
    transform(chunk: unknown, _encoding, done) {
      if (typeof chunk === 'string' || chunk instanceof Uint8Array) done(null, chunk)
      else
        done(
          new TypeError(`A stream of the response held a chunk that is no text or bytes: ${typeof chunk}.`),
        )
    },
  })
  return pipeline(objects, bytes, ignore)
}

function closedUnread(): Error {
  return new Error('The stream of the response was closed before anything of it was sent.')
}
