import { Writable } from 'node:stream'
import { callbackify } from 'node:util'
import { PayloadTooLarge } from '../../errors/http-error.ts'
import type { FormLimits } from '../../support/form-limits.ts'
import { tooLarge } from '../read-bytes.ts'
import { PartScanner } from './part-scanner.ts'
import { readPartHead, type PartHead } from './part-head.ts'
import type { TemporaryFiles } from './temporary-files.ts'

/*
 * Reads multipart forms, because formidable, the parser of koa-body, cannot be bounded from outside: a file of 5 MB that
 * consists of CR takes it 30 s, and it takes the field name of `filename="x; name=other"; name="f"` from the file name.
 * `test/pipeline/multipart.test.ts` and `hostile-multipart.test.ts` check this.
 */

/** Limits of the forms of one route; sizes in bytes. */
export interface FormRules extends FormLimits {
  /** Largest body; every byte counts. */
  readonly limit: number
  /** Largest file by field name. */
  readonly sizes: ReadonlyMap<string, number>
}

/** A field or a file of the form. */
export interface FormPart {
  readonly head: PartHead & { readonly name: string }
  /** Bytes. */
  size: number
  /** Undefined for a field. */
  readonly file: { readonly name: string; readonly path: string; readonly stream: Writable } | undefined
  /** The content of a field. */
  readonly pieces: Buffer[]
}

/** Smaller chunks are collected first, so that a body in chunks of one byte costs no more than another body. */
const SMALL = 4096
/** Bytes that wait for the disk before the request is paused. */
const WAITING = 128 * 1024

/** Reads a multipart body: fields into memory, files to the disk. An error ends it and comes with the event `error`. */
export class FormReader extends Writable {
  /** In the order of the body. */
  readonly parts: FormPart[] = []
  readonly #rules: FormRules
  readonly #files: TemporaryFiles
  readonly #scanner: PartScanner
  #received = 0
  #fileCount = 0
  #fieldCount = 0
  #small: Buffer | undefined
  #filled = 0
  /** The head of the current part; undefined for a part that is dropped. */
  #head: FormPart['head'] | undefined
  /** The current part, once it counts. */
  #part: FormPart | undefined

  constructor(boundary: string, rules: FormRules, files: TemporaryFiles) {
    super({ highWaterMark: WAITING })
    this.#rules = rules
    this.#files = files
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

  override _write(chunk: Buffer, _encoding: BufferEncoding, done: (error?: Error) => void): void {
    try {
      this.#scanner.write(chunk)
    } catch (error) {
      return done(error as Error)
    }
    const stream = this.#part?.file?.stream
    if (stream?.writableNeedDrain) stream.once('drain', done)
    else done()
  }

  /** Ends when every file is written and closed. */
  override _final(done: (error?: Error | null) => void): void {
    try {
      this.#scanner.finish()
    } catch (error) {
      return done(error as Error)
    }
    callbackify(() => this.#files.whenWritten())(done)
  }

  #writeSmall(): void {
    if (this.#small === undefined) return
    const collected = this.#small.subarray(0, this.#filled)
    // The stream may keep the written bytes, so the next chunks get new memory.
    this.#small = undefined
    this.#filled = 0
    this.write(collected)
  }

  /** A part is a file when it has a file name. Limits are checked before any byte of it is kept. */
  #begin(head: PartHead): void {
    const { maxFiles, maxFields } = this.#rules
    if (head.filename === null) this.#fieldCount += 1
    else this.#fileCount += 1
    if (this.#fileCount > maxFiles) throw tooMany('files', maxFiles, 'too_many_files')
    if (this.#fieldCount > maxFields) throw tooMany('fields', maxFields, 'too_many_fields')
    const { name } = head
    this.#head = name === null || name === '__proto__' ? undefined : { ...head, name }
    // Browsers send an empty file input as a file without name and content; it counts as absent.
    if (this.#head !== undefined && head.filename !== '') this.#open(this.#head)
  }

  #open(head: FormPart['head']): FormPart {
    const file = head.filename === null ? undefined : this.#create(head.filename)
    this.#part = { head, size: 0, file, pieces: [] }
    this.parts.push(this.#part)
    return this.#part
  }

  #create(name: string): FormPart['file'] {
    const path = this.#files.newPath()
    const stream = this.#files.create(path).on('error', (error) => this.destroy(error))
    return { name, path, stream }
  }

  #add(piece: Buffer): void {
    if (this.#head === undefined) return
    const part = this.#part ?? this.#open(this.#head)
    part.size += piece.length
    // A copy, because the piece would keep its whole chunk in memory.
    if (part.file === undefined) return void part.pieces.push(Buffer.from(piece))
    this.#judgeSize(part)
    part.file.stream.write(piece)
  }

  #judgeSize({ head, size }: FormPart): void {
    const most = Math.min(this.#rules.maxFileSize, this.#rules.sizes.get(head.name) ?? Infinity)
    if (size <= most) return
    const detail = `The file in the field '${head.name.slice(0, 100)}' is larger than ${most} bytes.`
    throw new PayloadTooLarge(detail, { code: 'file_too_large' })
  }

  #end(): void {
    this.#part?.file?.stream.end()
    this.#part = undefined
    this.#head = undefined
  }
}

function tooMany(what: string, most: number, code: string): PayloadTooLarge {
  const named = most === 1 ? what.slice(0, -1) : what
  return new PayloadTooLarge(`The form has more than ${most} ${named}.`, { code })
}
