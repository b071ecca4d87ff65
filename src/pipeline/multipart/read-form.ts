import { isUtf8 } from 'node:buffer'
import type { WriteStream } from 'node:fs'
import { BadRequest, PayloadTooLarge } from '../../errors/http-error.ts'
import { UploadedFile } from '../../schema/uploaded-file.ts'
import type { FormLimits } from '../../support/form-limits.ts'
import { readPartHead, type PartHead } from './part-head.ts'
import type { PartScanner, ScanRules } from './part-scanner.ts'
import { notWritten, type TemporaryFiles } from './temporary-files.ts'

/** Limits of the forms of one route; sizes in bytes. */
export interface FormRules extends FormLimits, ScanRules {
  /** Largest file by field name. */
  readonly sizes: ReadonlyMap<string, number>
}

/** Receives the content of one part. */
interface Part {
  /** The promise is pending until the disk has written the piece. */
  use(piece: Buffer): Promise<void> | undefined
  /** The value after the last piece; undefined if the part does not count. */
  end(): string | UploadedFile | undefined
}

/**
 * Reads the parts of a form: fields into memory, files to the disk. Resolves with all values by name, in the order of the
 * body. Limits are checked before any byte of a part is kept.
 */
export async function readForm(
  scanner: PartScanner,
  rules: FormRules,
  files: TemporaryFiles,
): Promise<ReadonlyMap<string, readonly unknown[]>> {
  const values = new Map<string, unknown[]>()
  let [fieldCount, fileCount] = [0, 0]
  let isMore = await scanner.readContent(() => undefined)
  while (isMore) {
    const head = readPartHead(await scanner.readHead())
    if (head.filename === null) fieldCount += 1
    else fileCount += 1
    if (fileCount > rules.maxFiles) throw tooMany('files', rules.maxFiles, 'too_many_files')
    if (fieldCount > rules.maxFields) throw tooMany('fields', rules.maxFields, 'too_many_fields')
    const part = partOf(head, rules, files)
    isMore = await scanner.readContent(part.use)
    const value = part.end()
    if (value !== undefined) values.set(head.name!, [...(values.get(head.name!) ?? []), value])
  }
  await scanner.readRest()
  return values
}

const DROPPED: Part = { use: () => undefined, end: () => undefined }

function partOf(head: PartHead, rules: FormRules, files: TemporaryFiles): Part {
  if (head.name === null || head.name === '__proto__') return DROPPED
  if (head.filename === null) return fieldOf()
  return fileOf(head, Math.min(rules.maxFileSize, rules.sizes.get(head.name) ?? Infinity), files)
}

/** Only the current field keeps its pieces, and with them the bytes around them; its value is a string of its own. */
function fieldOf(): Part {
  const pieces: Buffer[] = []
  return {
    use: (piece) => void pieces.push(piece),
    end() {
      const text = Buffer.concat(pieces)
      if (!isUtf8(text))
        throw new BadRequest('A field of the form is not valid UTF-8.', { code: 'malformed_body' })
      return text.toString('utf8')
    },
  }
}

function fileOf({ name, filename, mimetype }: PartHead, most: number, files: TemporaryFiles): Part {
  let size = 0
  // Browsers send an empty file input as a file without name and content; it counts as absent.
  let stream: WriteStream | undefined = filename === '' ? undefined : files.create()
  return {
    use(piece) {
      size += piece.length
      if (size > most) throw tooLargeFile(name!, most)
      stream ??= files.create()
      return written(stream, piece)
    },
    end() {
      if (stream === undefined) return undefined
      stream.end()
      return new UploadedFile({
        filepath: String(stream.path),
        originalFilename: filename!,
        mimetype,
        size,
      })
    },
  }
}

function written(stream: WriteStream, piece: Buffer): Promise<void> {
  return new Promise((resolve, reject) => {
    stream.write(piece, (error) => {
      if (error) reject(notWritten(stream, error))
      else resolve()
    })
  })
}

function tooLargeFile(name: string, most: number): PayloadTooLarge {
  const detail = `The file in the field '${name.slice(0, 100)}' is larger than ${most} bytes.`
  return new PayloadTooLarge(detail, { code: 'file_too_large' })
}

function tooMany(what: string, most: number, code: string): PayloadTooLarge {
  const named = most === 1 ? what.slice(0, -1) : what
  return new PayloadTooLarge(`The form has more than ${most} ${named}.`, { code })
}
