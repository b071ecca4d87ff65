import { constants, type BigIntStats } from 'node:fs'
import { open, type FileHandle } from 'node:fs/promises'
import { basename, isAbsolute } from 'node:path'
import { Readable } from 'node:stream'
import { NotFound } from '../../errors/http-error.ts'
import { describeValue } from '../../support/describe-value.ts'
import { ignore } from '../../support/ignore.ts'
import type { FileSource, SendFileOptions } from './send-file-options.ts'
import { placeBelow } from './place-below.ts'

/** First and last byte, both included. */
export interface ByteRange {
  readonly start: number
  readonly end: number
}

/** Content that is ready to be sent. */
export interface OpenedFile {
  readonly size: number
  readonly etag: string | undefined
  readonly lastModified: Date | undefined
  /** Name whose extension gives the media type; empty for none. */
  readonly name: string
  /** Opens a part. The stream releases the file when it ends or is destroyed. */
  read(range: ByteRange): Readable | Promise<Readable>
  /** Releases a file that is not read. */
  close(): Promise<void>
}

/** Opens what `sendFile` was given. @throws NotFound for a path without a regular file. */
export async function openFile(
  file: string | Uint8Array | FileSource,
  options: SendFileOptions,
): Promise<OpenedFile> {
  if (typeof file === 'string') return openPath(file, options)
  const source = file instanceof Uint8Array ? sourceOf(file) : file
  if (!Number.isSafeInteger(source.size) || source.size < 0)
    throw new TypeError(`The size of a file is ${describeValue(source.size)}, not a number of bytes.`)
  refuseWrongTime(source.lastModified)
  return {
    size: source.size,
    etag: source.etag,
    lastModified: source.lastModified,
    name: '',
    read: async (range) => streamOf(await source.open(range)),
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

function sourceOf(bytes: Uint8Array): FileSource {
  return { size: bytes.length, open: ({ start, end }) => bytes.subarray(start, end + 1) }
}

function streamOf(content: Awaited<ReturnType<FileSource['open']>>): Readable {
  if (content instanceof Readable) return content
  // `Readable.from` would iterate over the numbers of a typed array.
  if (content instanceof Uint8Array) return Readable.from([content], { objectMode: false })
  return content instanceof ReadableStream
    ? Readable.fromWeb(content as never)
    : Readable.from(content, { objectMode: false })
}

/** Opens the file once, and reads size and time from the open file, so that another file cannot replace it between. */
async function openPath(path: string, options: SendFileOptions): Promise<OpenedFile> {
  const handle = await openRegular(path, options).catch((error: unknown) => {
    throw isAbsent(error) ? notFound(error) : error
  })
  try {
    const stats = await handle.stat({ bigint: true })
    if (!stats.isFile()) throw notFound()
    return opened(handle, stats, path)
  } catch (error) {
    await handle.close()
    throw error
  }
}

/** Without O_NONBLOCK, opening a named pipe would wait for its writer. */
const FLAGS = constants.O_RDONLY | (constants.O_NONBLOCK ?? 0)

async function openRegular(path: string, { root, dotfiles = false }: SendFileOptions): Promise<FileHandle> {
  if (path.includes('\0')) throw notFound()
  if (root !== undefined)
    // The path has no link any more, so a link in its place was created a moment ago.
    return open(await placeBelow(root, path, dotfiles), FLAGS | (constants.O_NOFOLLOW ?? 0))
  if (!isAbsolute(path))
    throw new TypeError('sendFile needs an absolute path, or the option root that the path is relative to.')
  return open(path, FLAGS)
}

function opened(handle: FileHandle, stats: BigIntStats, path: string): OpenedFile {
  const size = Number(stats.size)
  return {
    size,
    etag: etagOf(stats),
    // A time in the future must not be sent (RFC 9110 §8.8.2.1).
    lastModified: new Date(Math.min(Number(stats.mtimeMs), Date.now())),
    name: basename(path),
    read: ({ start, end }) => handle.createReadStream({ start, end }),
    close: () => handle.close().catch(ignore),
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

function isAbsent(error: unknown): boolean {
  return ABSENT.has((error as { code?: string }).code ?? '')
}

function notFound(cause?: unknown): NotFound {
  return new NotFound('There is no such file.', { cause })
}
