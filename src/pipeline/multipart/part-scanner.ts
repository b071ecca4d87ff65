import { BadRequest, PayloadTooLarge } from '../../errors/http-error.ts'
import { clientLeft, tooLarge } from '../read-bytes.ts'

/** Limits of the bytes of a form. */
export interface ScanRules {
  /** Largest body; every byte counts. */
  readonly limit: number
  /** Longest header block of a part. */
  readonly maxHeaderSize: number
}

/** Bytes that are collected and scanned together, because each write to a file costs more CPU than their copy. */
const COLLECTED = 128 * 1024
/** Bytes that are always collected, because each scan of a header block begins at its first byte. */
const SMALL = 4096
/** Chunks of one byte need hundreds of times their size in memory. */
const MOST_CHUNKS = 1024
const CRLF = Buffer.from('\r\n')
const END_OF_HEAD = Buffer.from('\r\n\r\n')
const [CR, LF, DASH] = [13, 10, 45]

/**
 * Splits a multipart body into parts (RFC 2046 §5.1.1) in linear time. A boundary is followed by CRLF or `--`; otherwise
 * its bytes are content. Reads the body no faster than its content is used.
 */
export class PartScanner {
  readonly #source: AsyncIterator<Buffer, undefined>
  readonly #delimiter: Buffer
  readonly #rules: ScanRules
  #received = 0
  /** Bytes that are not used yet. The first boundary has no line before it. */
  #bytes: Buffer = CRLF

  constructor(source: AsyncIterator<Buffer, undefined>, boundary: string, rules: ScanRules) {
    this.#source = source
    this.#delimiter = Buffer.from(`\r\n--${boundary}`, 'latin1')
    this.#rules = rules
  }

  /**
   * Passes the content up to the next boundary to `use`, in pieces. Resolves with true if another part follows; the
   * first call reads what comes before the first part.
   * @throws BadRequest `malformed_body` when the closing boundary is missing.
   */
  async readContent(use: (piece: Buffer) => unknown): Promise<boolean> {
    for (;;) {
      const { at, next } = this.#findBoundary()
      if (at > 0) await use(this.#take(at))
      if (next !== undefined) {
        this.#take(this.#delimiter.length)
        return next === 'part'
      }
      // The first bytes are not waited for, so that a client that waits gets its refusal.
      await this.#collect(Math.min(this.#received, COLLECTED))
    }
  }

  /** Resolves with the header block of a part. @throws PayloadTooLarge `part_header_too_large`. */
  async readHead(): Promise<Buffer> {
    const { maxHeaderSize } = this.#rules
    for (;;) {
      // The bytes begin with the CRLF after the boundary.
      const end = this.#bytes.indexOf(END_OF_HEAD)
      const size = (end === -1 ? this.#bytes.length - END_OF_HEAD.length : end) - CRLF.length
      if (size > maxHeaderSize)
        throw new PayloadTooLarge(`The headers of a part are larger than ${maxHeaderSize} bytes.`, {
          code: 'part_header_too_large',
        })
      if (end !== -1) return this.#take(end + END_OF_HEAD.length).subarray(Math.min(CRLF.length, end), end)
      await this.#collect(0)
    }
  }

  /** Reads what comes after the closing boundary. */
  async readRest(): Promise<void> {
    while ((await this.#next()) !== undefined);
  }

  /** Returns the place of the next boundary; without `next` it has not arrived, and the bytes before `at` are content. */
  #findBoundary(): { at: number; next?: 'part' | 'end' } {
    const bytes = this.#bytes
    const { length } = this.#delimiter
    let at = bytes.indexOf(this.#delimiter)
    for (; at !== -1 && at + length + 2 <= bytes.length; at = bytes.indexOf(this.#delimiter, at + 1)) {
      const [first, second] = bytes.subarray(at + length)
      if (first === CR && second === LF) return { at, next: 'part' }
      if (first === DASH && second === DASH) return { at, next: 'end' }
    }
    return { at: at === -1 ? Math.max(0, bytes.length - length + 1) : at }
  }

  #take(count: number): Buffer {
    const taken = this.#bytes.subarray(0, count)
    this.#bytes = this.#bytes.subarray(count)
    return taken
  }

  /** Reads at least `least` bytes more, if the body has them. */
  async #collect(least: number): Promise<void> {
    const chunks = [this.#bytes]
    for (let size = 0; size < Math.max(SMALL, least) && chunks.length < MOST_CHUNKS;) {
      const chunk = await this.#next()
      if (chunk === undefined && size === 0)
        throw new BadRequest('The form ends before its closing boundary.', { code: 'malformed_body' })
      if (chunk === undefined) break
      chunks.push(chunk)
      size += chunk.length
    }
    this.#bytes = Buffer.concat(chunks)
  }

  async #next(): Promise<Buffer | undefined> {
    const { value } = await this.#source.next().catch(() => {
      throw clientLeft()
    })
    this.#received += value?.length ?? 0
    if (this.#received > this.#rules.limit) throw tooLarge(this.#rules.limit)
    return value
  }
}
