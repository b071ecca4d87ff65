const UPLOADED = Symbol.for('mortar.uploaded-file')

/**
 * A file of a multipart body, under its field name in `ctx.body`. It is deleted when the response is done. Only the
 * multipart parser makes these objects: JSON or form text with the same keys is not an `UploadedFile`.
 */
export class UploadedFile {
  /** Path of the temporary file that stores the content until the response is done. */
  readonly filepath: string
  /** The name that the client sent, without folders; never use it as a path. */
  readonly originalFilename: string
  /** The media type that the client claims, without parameters; null when it sent none. */
  readonly mimetype: string | null
  /** Bytes. */
  readonly size: number

  constructor({ filepath, originalFilename, mimetype, size }: UploadedFileFields) {
    this.filepath = filepath
    this.originalFilename = originalFilename
    this.mimetype = mimetype
    this.size = size
  }

  /** The JSON form has no path: a message about the value, or the value itself in a response, would tell it to a client. */
  toJSON(): Omit<UploadedFileFields, 'filepath'> {
    const { originalFilename, mimetype, size } = this
    return { originalFilename, mimetype, size }
  }

  /** The brand is on the prototype, so that a copy by spread does not have it. */
  get [UPLOADED](): true {
    return true
  }
}

/** The properties of an uploaded file. */
export interface UploadedFileFields {
  readonly filepath: string
  readonly originalFilename: string
  readonly mimetype: string | null
  readonly size: number
}

/** True for an object of the multipart parser, also of another copy of the package. */
export function isUploadedFile(value: unknown): value is UploadedFile {
  return typeof value === 'object' && value !== null && UPLOADED in value
}
