import { Transform, type TransformCallback } from 'node:stream'
import { PayloadTooLarge } from '../../errors/http-error.ts'
import type { FormLimits } from '../../support/form-limits.ts'
import { tooLarge } from '../read-bytes.ts'
import { PartScanner } from './part-scanner.ts'
import { readPartHead, type PartHead } from './part-head.ts'

/*
 * Protects formidable, the parser of koa-body. formidable has no limit for headers, reads a file name in quadratic time
 * and emits an event for each CR in a content. The guard checks every byte itself and passes on a rewritten form: names
 * are numbers, and contents are base64, which contains no character of the boundary.
 * `test/pipeline/multipart.test.ts` and `hostile-multipart.test.ts` check this.
 */

/** Limits of the forms of one route; sizes in bytes. */
export interface FormRules extends FormLimits {
  /** Largest body; every byte counts. */
  readonly limit: number
  /** Largest file by field name. */
  readonly sizes: ReadonlyMap<string, number>
}

/** A part that was passed on to formidable. */
export interface FormPart {
  /** Name in the rewritten form. */
  readonly key: string
  readonly head: PartHead & { readonly name: string }
  /** Bytes. */
  size: number
}

const BOUNDARY = '_'.repeat(32)
/** Smaller chunks are collected first, so that a body in chunks of one byte costs no more than another body. */
const SMALL = 4096
const NOTHING = Buffer.alloc(0)

/** Reads a multipart body and gives formidable a safe form with the same contents. */
export class FormGuard extends Transform {
  /** Properties of a request that formidable reads besides its bytes. */
  readonly headers = {
    'content-type': `multipart/form-data; boundary=${BOUNDARY}`,
    'transfer-encoding': 'chunked',
  }
  /** The parts that were passed on, in the order of the body. */
  readonly parts: FormPart[] = []
  readonly #rules: FormRules
  readonly #scanner: PartScanner
  #received = 0
  #files = 0
  #fields = 0
  #small: Buffer | undefined
  #filled = 0
  /** The current part; undefined for a part that is dropped. */
  #part: FormPart | undefined
  #isOpen = false
  /** One or two bytes that wait for a third, for base64. */
  #odd: Buffer = NOTHING

  constructor(boundary: string, rules: FormRules) {
    super()
    this.#rules = rules
    this.#scanner = new PartScanner(boundary, rules.maxHeaderSize, {
      head: (block) => this.#begin(readPartHead(block)),
      content: (piece) => this.#add(piece),
      end: () => this.#end(),
    })
  }

  /** Adds a chunk of the body. Returns false to request a pause until `drain`. Small chunks are collected first. */
  feed(chunk: Buffer): boolean {
    if (this.destroyed) return false
    this.#received += chunk.length
    if (this.#received > this.#rules.limit) {
      this.destroy(tooLarge(this.#rules.limit))
      return false
    }
    if (this.#filled + chunk.length > SMALL) {
      this.#writeSmall()
      if (chunk.length > SMALL) return this.write(chunk)
    }
    this.#small ??= Buffer.allocUnsafe(SMALL)
    chunk.copy(this.#small, this.#filled)
    this.#filled += chunk.length
    return !this.writableNeedDrain
  }

  /** Ends the body. */
  feedEnd(): void {
    this.#writeSmall()
    this.end()
  }

  override _transform(chunk: Buffer, _encoding: BufferEncoding, done: TransformCallback): void {
    attempt(done, () => this.#scanner.write(chunk))
  }

  override _flush(done: TransformCallback): void {
    attempt(done, () => {
      this.#scanner.finish()
      this.push(`--${BOUNDARY}--\r\n`)
    })
  }

  #writeSmall(): boolean {
    if (this.#small === undefined) return true
    const collected = this.#small.subarray(0, this.#filled)
    // The stream may keep the written bytes, so the next chunks get new memory.
    this.#small = undefined
    this.#filled = 0
    return this.write(collected)
  }

  /** A part is a file when it has a file name. Limits are checked before any byte of it is passed on. */
  #begin(head: PartHead): void {
    const { maxFiles, maxFields } = this.#rules
    if (head.filename === null) this.#fields += 1
    else this.#files += 1
    if (this.#files > maxFiles) throw tooMany('files', maxFiles, 'too_many_files')
    if (this.#fields > maxFields) throw tooMany('fields', maxFields, 'too_many_fields')
    const { name } = head
    const isDropped = name === null || name === '__proto__'
    this.#part = isDropped ? undefined : { key: `p${this.parts.length}`, head: { ...head, name }, size: 0 }
    // Browsers send an empty file input as a file without name and content; it counts as absent.
    if (this.#part !== undefined && head.filename !== '') this.#open(this.#part)
  }

  #open(part: FormPart): void {
    this.#isOpen = true
    this.parts.push(part)
    const file =
      '; filename="f"\r\nContent-Type: application/octet-stream\r\nContent-Transfer-Encoding: base64'
    const disposition = `Content-Disposition: form-data; name="${part.key}"`
    this.push(`--${BOUNDARY}\r\n${disposition}${part.head.filename === null ? '' : file}\r\n\r\n`)
  }

  #add(piece: Buffer): void {
    const part = this.#part
    if (part === undefined) return
    if (!this.#isOpen) this.#open(part)
    part.size += piece.length
    if (part.head.filename !== null) this.#judgeSize(part)
    const bytes = this.#odd.length === 0 ? piece : Buffer.concat([this.#odd, piece])
    const whole = bytes.length - (bytes.length % 3)
    if (whole > 0) this.push(bytes.toString('base64', 0, whole), 'latin1')
    // A copy, because the slice would keep its whole chunk in memory.
    this.#odd = whole === bytes.length ? NOTHING : Buffer.from(bytes.subarray(whole))
  }

  #judgeSize({ head, size }: FormPart): void {
    const most = Math.min(this.#rules.maxFileSize, this.#rules.sizes.get(head.name) ?? Infinity)
    if (size <= most) return
    const detail = `The file in the field '${head.name.slice(0, 100)}' is larger than ${most} bytes.`
    throw new PayloadTooLarge(detail, { code: 'file_too_large' })
  }

  #end(): void {
    if (this.#isOpen) this.push(`${this.#odd.toString('base64')}\r\n`, 'latin1')
    this.#odd = NOTHING
    this.#isOpen = false
    this.#part = undefined
  }
}

function tooMany(what: string, most: number, code: string): PayloadTooLarge {
  const named = most === 1 ? what.slice(0, -1) : what
  return new PayloadTooLarge(`The form has more than ${most} ${named}.`, { code })
}

function attempt(done: TransformCallback, act: () => void): void {
  try {
    act()
    done()
  } catch (error) {
    done(error as Error)
  }
}
