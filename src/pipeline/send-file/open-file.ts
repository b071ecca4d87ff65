import { close, constants, fstat, open, type BigIntStats } from 'node:fs'
import { basename, isAbsolute } from 'node:path'
import { Readable } from 'node:stream'
import { promisify } from 'node:util'
import { NotFound } from '../../errors/http-error.ts'
import { describeValue } from '../../support/describe-value.ts'
import { ignore } from '../../support/ignore.ts'
import { lengthOf, type ByteRange } from './byte-range.ts'
import { exactLength } from '../when-readable.ts'
import { FilePart } from './file-part.ts'
import type { FileSource, SendFileOptions } from './send-file-options.ts'
import { placeBelow } from './place-below.ts'

/** Content that is ready to be sent. */
export interface OpenedFile {
  readonly size: number
  readonly etag: string | undefined
  readonly lastModified: Date | undefined
  /** Name whose extension gives the media type; empty for none. */
  readonly name: string
  /** Opens a part of exactly this length. The stream releases the file when it ends or is destroyed. */
  read(range: ByteRange): Readable | Promise<Readable>
  /** Releases a file of which no part was opened. */
  close(): Promise<void>
}

/** Opens what `sendFile` was given. @throws NotFound for a path without a regular file. */
export async function openFile(
  file: string | Uint8Array | FileSource,
  options: SendFileOptions,
): Promise<OpenedFile> {
  if (typeof file === 'string') return openPath(file, options)
  const source: FileSource =
    file instanceof Uint8Array
      ? { size: file.length, open: ({ start, end }) => file.subarray(start, end + 1) }
      : file
  if (!Number.isSafeInteger(source.size) || source.size < 0)
    throw new TypeError(`The size of a file is ${describeValue(source.size)}, not a number of bytes.`)
  refuseWrongTime(source.lastModified)
  return {
    size: source.size,
    etag: source.etag,
    lastModified: source.lastModified,
    name: '',
    read: async (range) => exactLength(streamOf(await source.open(range)), lengthOf(range)),
    close: () => Promise.resolve(),
  }
}

/** JavaScript would send the header as `Invalid Date`, which caches compare as text. */
function refuseWrongTime(time: unknown): void {
  const isDate = time instanceof Date
  if (time === undefined || time === null || (isDate && !Number.isNaN(time.getTime()))) return
  const found = isDate ? 'an invalid Date' : describeValue(time)
  throw new TypeError(`The lastModified of a file is ${found}, not a valid Date.`)
}

function streamOf(content: Awaited<ReturnType<FileSource['open']>>): Readable {
  if (content instanceof Readable) return content
  // `Readable.from` would iterate over the numbers of a typed array.
  if (content instanceof Uint8Array) return Readable.from([content], { objectMode: false })
  return content instanceof ReadableStream
    ? Readable.fromWeb(content as never)
    : Readable.from(content, { objectMode: false })
}

const openNumber = promisify(open)
const closeNumber = promisify(close)
/** The overload with options does not survive `promisify`. */
const statNumber = promisify(fstat) as (file: number, options: { bigint: true }) => Promise<BigIntStats>

/** Opens the file once, and reads size and time from the open file, so that another file cannot replace it between. */
async function openPath(path: string, options: SendFileOptions): Promise<OpenedFile> {
  const file = await openRegular(path, options).catch((error: unknown) => {
    throw ABSENT.has((error as NodeJS.ErrnoException).code ?? '') ? notFound(error) : error
  })
  try {
    const stats = await statNumber(file, { bigint: true })
    if (!stats.isFile()) throw notFound()
    return opened(file, stats, path)
  } catch (error) {
    await closeNumber(file)
    throw error
  }
}

/** Without O_NONBLOCK, opening a named pipe would wait for its writer. */
const FLAGS = constants.O_RDONLY | (constants.O_NONBLOCK ?? 0)

async function openRegular(path: string, { root, dotfiles = false }: SendFileOptions): Promise<number> {
  if (root === '')
    throw new TypeError('The option root of sendFile() is empty, which would be the working directory.')
  if (path.includes('\0')) throw notFound()
  if (root !== undefined)
    // The path has no link any more, so a link in its place was created a moment ago.
    return openNumber(await placeBelow(root, path, dotfiles), FLAGS | (constants.O_NOFOLLOW ?? 0))
  if (!isAbsolute(path))
    throw new TypeError('sendFile needs an absolute path, or the option root that the path is relative to.')
  return openNumber(path, FLAGS)
}

function opened(file: number, stats: BigIntStats, path: string): OpenedFile {
  const size = Number(stats.size)
  return {
    size,
    etag: etagOf(stats),
    // A time in the future must not be sent (RFC 9110 §8.8.2.1).
    lastModified: new Date(Math.min(Number(stats.mtimeMs), Date.now())),
    name: basename(path),
    read: (range) => new FilePart(file, range),
    close: () => closeNumber(file).catch(ignore),
  }
}

/** Milliseconds after a change in which a file could change again with the same time. */
const UNSETTLED = 1000

/** A strong validator from size and time; a weak one for a file that has just changed (RFC 9110 §8.8.1). */
function etagOf({ size, mtimeNs, mtimeMs }: BigIntStats): string {
  const tag = `"${size.toString(16)}-${mtimeNs.toString(16)}"`
  return Date.now() - Number(mtimeMs) < UNSETTLED ? `W/${tag}` : tag
}

/** Codes for a path that cannot be a file. Others, such as a lack of permission, are errors of the server. */
const ABSENT = new Set(['ENOENT', 'ENOTDIR', 'EISDIR', 'ENAMETOOLONG', 'ELOOP', 'ENXIO'])

function notFound(cause?: unknown): NotFound {
  return new NotFound('There is no such file.', { cause })
}
