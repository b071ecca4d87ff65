import type { Readable } from 'node:stream'
import type { Duration } from '../../support/duration.ts'

/** Bytes that are not in the file system, such as an object of a storage service. */
export interface FileSource {
  /** Bytes of the whole content. */
  readonly size: number
  /** With its quotes: `'"5d8c72"'`. */
  readonly etag?: string | undefined
  readonly lastModified?: Date | undefined
  /** Opens the bytes from `start` to `end`, both included. Called only if bytes are sent. */
  open(range: { readonly start: number; readonly end: number }): FileBytes | Promise<FileBytes>
}

/** The bytes of a `FileSource`. */
export type FileBytes = Readable | ReadableStream<Uint8Array> | AsyncIterable<Uint8Array> | Uint8Array

/** Options of `sendFile`. */
export interface SendFileOptions {
  /** Folder that the path is relative to. A path outside it is a 404, also through a symbolic link. */
  readonly root?: string
  /** True to send files below `root` whose path has a segment that begins with a dot. By default they are a 404. */
  readonly dotfiles?: boolean
  /** Name under which the client saves the file. It is sent as `Content-Disposition: attachment`. */
  readonly filename?: string
  /** True to show the file in the browser instead, under the name `filename`. */
  readonly inline?: boolean
  /** Media type or file extension. By default that of `ctx.type`, else of the extension of `filename` or of the path. */
  readonly type?: string
  /** Time for which caches use the file without a request: seconds, or a duration such as `'1h'`. */
  readonly maxAge?: Duration
  /** With `maxAge`: the content under this URL never changes. */
  readonly immutable?: boolean
  /** Whole value of `Cache-Control`; false for no such header. */
  readonly cacheControl?: string | false
}
