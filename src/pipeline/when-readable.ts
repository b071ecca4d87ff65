import type { ServerResponse } from 'node:http'
import { pipeline, Transform, type Readable } from 'node:stream'
import { ignore } from '../support/ignore.ts'

/**
 * Waits for the first bytes or the end of a stream before anything is sent, so that a missing file can still become a
 * problem response. Closes the stream if the client disconnects. Rejects with the stream's error.
 * @param hasty true to wait only for immediate failures: until a file is open, else one turn of the event loop.
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

/**
 * Converts a stream of objects to a stream of bytes. A chunk that is neither text nor bytes is an error of the stream.
 */
export function bytesOf(objects: Readable): Readable {
  const bytes = new Transform({
    writableObjectMode: true,
    transform(chunk: unknown, _encoding, done) {
      if (typeof chunk === 'string' || chunk instanceof Uint8Array) done(null, chunk)
      else
        done(
          new TypeError(
            `The response stream contains a chunk that is neither a string nor bytes: ${typeof chunk}.`,
          ),
        )
    },
  })
  return pipeline(objects, bytes, ignore)
}

function closedUnread(): Error {
  return new Error('The response stream was closed before any byte was sent.')
}
