import { BadRequest, PayloadTooLarge } from '../../errors/http-error.ts'

/** Receives the parts that a scanner finds, in their order. */
export interface PartSink {
  /** The header block of a new part, without the empty line that ends it. */
  head(block: Buffer): void
  /** A piece of the content of the current part. */
  content(piece: Buffer): void
  /** The end of the current part. */
  end(): void
}

const NOTHING = Buffer.alloc(0)
const CRLF = Buffer.from('\r\n')
const END_OF_HEAD = Buffer.from('\r\n\r\n')
const [CR, LF, DASH] = [13, 10, 45]

/**
 * Splits a multipart body into parts (RFC 2046 §5.1.1) in linear time. Between two writes it keeps at most one header
 * block or boundary. A boundary is followed by CRLF or `--`; otherwise its bytes are content.
 */
export class PartScanner {
  readonly #delimiter: Buffer
  readonly #maxHeaderSize: number
  readonly #sink: PartSink
  #state: 'preamble' | 'head' | 'content' | 'done' = 'preamble'
  /** Bytes that cannot be classified yet. Starts with CRLF, because the first boundary has no line before it. */
  #kept: Buffer = CRLF

  constructor(boundary: string, maxHeaderSize: number, sink: PartSink) {
    this.#delimiter = Buffer.from(`\r\n--${boundary}`, 'latin1')
    this.#maxHeaderSize = maxHeaderSize
    this.#sink = sink
  }

  /** @throws PayloadTooLarge `part_header_too_large`. */
  write(chunk: Buffer): void {
    let rest: Buffer | undefined = this.#kept.length === 0 ? chunk : Buffer.concat([this.#kept, chunk])
    this.#kept = NOTHING
    while (rest !== undefined && this.#state !== 'done')
      rest = this.#state === 'head' ? this.#readHead(rest) : this.#readContent(rest)
  }

  /** @throws BadRequest `malformed_body` when the closing boundary is missing. */
  finish(): void {
    if (this.#state !== 'done')
      throw new BadRequest('The form ends before its closing boundary.', { code: 'malformed_body' })
  }

  /** Returns the bytes after the next boundary, or undefined if the boundary has not arrived. */
  #readContent(bytes: Buffer): Buffer | undefined {
    const { length } = this.#delimiter
    let at = bytes.indexOf(this.#delimiter)
    while (at !== -1 && at + length + 2 <= bytes.length) {
      const next = boundaryKind(bytes, at + length)
      if (next !== undefined) {
        this.#take(bytes.subarray(0, at))
        if (this.#state === 'content') this.#sink.end()
        this.#state = next
        return bytes.subarray(at + length)
      }
      at = bytes.indexOf(this.#delimiter, at + 1)
    }
    const settled = at === -1 ? Math.max(0, bytes.length - length + 1) : at
    this.#take(bytes.subarray(0, settled))
    this.#kept = bytes.subarray(settled)
    return undefined
  }

  #take(piece: Buffer): void {
    if (this.#state === 'content' && piece.length > 0) this.#sink.content(piece)
  }

  /**
   * Returns the bytes after a header block, or undefined if it is incomplete. `bytes` begins with the CRLF before it.
   */
  #readHead(bytes: Buffer): Buffer | undefined {
    const end = bytes.indexOf(END_OF_HEAD)
    const size = (end === -1 ? bytes.length - END_OF_HEAD.length : end) - CRLF.length
    if (size > this.#maxHeaderSize)
      throw new PayloadTooLarge(`The headers of a part are larger than ${this.#maxHeaderSize} bytes.`, {
        code: 'part_header_too_large',
      })
    if (end === -1) {
      this.#kept = bytes
      return undefined
    }
    this.#state = 'content'
    this.#sink.head(bytes.subarray(Math.min(CRLF.length, end), end))
    return bytes.subarray(end + END_OF_HEAD.length)
  }
}

function boundaryKind(bytes: Buffer, at: number): 'head' | 'done' | undefined {
  if (bytes[at] === CR && bytes[at + 1] === LF) return 'head'
  return bytes[at] === DASH && bytes[at + 1] === DASH ? 'done' : undefined
}
