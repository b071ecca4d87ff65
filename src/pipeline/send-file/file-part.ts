import { close, read } from 'node:fs'
import { Readable } from 'node:stream'
import { lengthOf, type ByteRange } from './byte-range.ts'

/** Bytes of one read. A stream keeps one chunk for a slow client, because it does not read ahead. */
const CHUNK = 262_144

/**
 * Exactly the bytes of a range of an open file, which it closes. It fails if the file became shorter. Node's own stream
 * with a Transform that counts its bytes takes more CPU.
 */
export class FilePart extends Readable {
  readonly #file: number
  readonly #length: number
  #position: number
  #left: number
  /** Closes the file after the read that is active: until then, its number must not be reused. */
  #afterRead: (() => void) | undefined = undefined
  #isReading = false

  constructor(file: number, range: ByteRange) {
    super({ highWaterMark: 1 })
    this.#file = file
    this.#position = range.start
    this.#length = this.#left = lengthOf(range)
  }

  override _read(): void {
    this.#isReading = true
    const size = Math.min(CHUNK, this.#left)
    read(this.#file, Buffer.allocUnsafeSlow(size), 0, size, this.#position, (error, found, bytes) => {
      this.#isReading = false
      if (this.#afterRead !== undefined) return this.#afterRead()
      if (error !== null) return void this.destroy(error)
      if (found === 0) return void this.destroy(tooShort(this.#length, this.#length - this.#left))
      this.#position += found
      this.#left -= found
      this.push(found === size ? bytes : bytes.subarray(0, found))
      if (this.#left === 0) this.push(null)
    })
  }

  override _destroy(error: Error | null, done: (error?: Error | null) => void): void {
    const end = (): void => close(this.#file, (failure) => done(error ?? failure))
    if (this.#isReading) this.#afterRead = end
    else end()
  }
}

function tooShort(length: number, found: number): Error {
  return new Error(`A file of ${length} bytes has only ${found}; it changed while it was sent.`)
}
