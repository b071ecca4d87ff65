import { pipeline, Transform, type Readable } from 'node:stream'
import { ignore } from '../../support/ignore.ts'
import { wrongLength } from './wrong-length.ts'

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
