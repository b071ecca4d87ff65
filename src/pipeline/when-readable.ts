import { pipeline, Transform, type Readable } from 'node:stream'
import type { ObservedRequest } from '../contracts/observed-request.ts'
import { clientLeft } from '../context/request-signal.ts'
import { ignore } from '../support/ignore.ts'
import { whenClosed } from '../support/when-closed.ts'

/** The request that a stream responds to. */
type Exchange = Pick<ObservedRequest, 'req' | 'res'>

/**
 * Waits for the first bytes or the end of a stream before anything is sent, so that a missing file can still become a
 * problem response. Rejects with the stream's error. Closes the stream if the client disconnects, also while it is sent:
 * a pipelined response that waits for its turn never closes its stream itself.
 * @param hasty true to wait only for immediate failures: until a file is open, else one turn of the event loop.
 */
export function whenReadable(stream: Readable, { req, res }: Exchange, hasty: boolean): Promise<void> {
  const hasLeft = (): boolean => res.destroyed || req.socket.destroyed
  // Without a listener, an error of a stream ends the process.
  stream.on('error', ignore)
  if (stream.errored) return Promise.reject(stream.errored)
  if (hasEndedEmpty(stream)) return Promise.resolve()
  if (stream.destroyed) return Promise.reject(hasLeft() ? clientLeft() : closedUnread())
  destroyWhenClosed(stream, { req, res })
  if (stream.readableLength > 0 || stream.readableFlowing === true) return Promise.resolve()
  return new Promise((resolve, reject) => {
    const settle = (error?: Error): void => {
      stream.off('readable', onReadable).off('error', settle).off('close', onClose).off('open', onReadable)
      if (error === undefined) resolve()
      else reject(error)
    }
    const onReadable = (): void => settle()
    const onClose = (): void => settle(stream.readableEnded || hasLeft() ? undefined : closedUnread())
    stream.on('readable', onReadable).on('error', settle).on('close', onClose)
    // A stream of a file that is not open yet.
    if (hasty && 'pending' in stream && stream.pending === true) stream.on('open', onReadable)
    else if (hasty) setImmediate(onReadable)
  })
}

/** True for a stream without bytes that has ended: no event will come from it. */
export const hasEndedEmpty = (stream: Readable): boolean => stream.readableEnded && !stream.readableDidRead

/** A function of its own, so that an open stream keeps nothing else. */
export function destroyWhenClosed(stream: Readable, { req, res }: Exchange): void {
  whenClosed(req, res, () => stream.destroy())
}

/**
 * Converts a stream of objects to a stream of bytes. A chunk that is neither text nor bytes is an error of the stream.
 */
export function bytesOf(objects: Readable): Readable {
  const bytes = new Transform({
    writableObjectMode: true,
    transform(chunk: unknown, _encoding, done) {
      if (typeof chunk === 'string' || chunk instanceof Uint8Array) done(null, chunk)
      else done(wrongChunk(chunk))
    },
  })
  return pipeline(objects, bytes, ignore)
}

/**
 * Passes a stream on if it has exactly `length` bytes. Else it fails, which closes the connection: the length was
 * already sent, and the client would wait for the missing bytes.
 */
export function exactLength(source: Readable, length: number): Readable {
  let size = 0
  const counted = new Transform({
    transform(chunk: Buffer, _encoding, done) {
      size += chunk.length
      if (size > length) done(wrongLength(length, 'more'))
      else done(null, chunk)
    },
    flush(done) {
      done(size === length ? null : wrongLength(length, `only ${size}`))
    },
  })
  return pipeline(source, counted, ignore)
}

/** Returns the error of content that has another length than the headers: it closes the connection. */
function wrongLength(length: number, found: string): Error {
  return new Error(`The body of a response of ${length} bytes has ${found}.`)
}

function wrongChunk(chunk: unknown): Error {
  return new TypeError(`The response stream has a chunk that is neither a string nor bytes: ${typeof chunk}.`)
}

function closedUnread(): Error {
  return new Error('The response stream was closed before any byte was sent.')
}
