import { unlink } from 'node:fs/promises'
import { BadRequest, isHttpError, PayloadTooLarge, UnsupportedMediaType } from '../errors/http-error.ts'
import type { RequestContext } from '../context/request-context.ts'

/** A file of a multipart body, as it stands in `ctx.body` under its field name. It is deleted when the response is done. */
export interface UploadedFile {
  /** Where its content lies until the response is done. */
  readonly filepath: string
  /** The name that the client gave it; never use it as a path. */
  readonly originalFilename: string | null
  readonly mimetype: string | null
  /** Bytes. */
  readonly size: number
}

type Fields = Record<string, unknown>

/**
 * Parses a multipart body with koa-body, which is loaded when the first one arrives. Files join the fields
 * under their names, an array where a name repeats.
 */
export async function parseForm(ctx: RequestContext, limit: number): Promise<Fields> {
  refuseEncoding(ctx)
  const { koaBody } = await import('koa-body')
  const { koa } = ctx
  const uploads: { filepath: string }[] = []
  ctx.internal.res.once('close', () => void removeAll(uploads))
  const parse = koaBody({
    multipart: true,
    json: false,
    text: false,
    urlencoded: false,
    parsedMethods: [ctx.method],
    formidable: {
      maxFileSize: limit,
      maxTotalFileSize: limit,
      maxFieldsSize: limit,
      allowEmptyFiles: true,
      minFileSize: 0,
      // A part that is not handed on is dropped: one without a name, or with one that would reach a prototype.
      onPart: (part: { name: string | null }, handle: (part: unknown) => void) => {
        if (part.name !== null && part.name !== '__proto__') handle(part)
      },
      onFileBegin: (_field: string, file: { filepath: string }) => void uploads.push(file),
    },
  } as Parameters<typeof koaBody>[0])
  try {
    await parse(koa, () => Promise.resolve())
  } catch (error) {
    throw formError(error, limit)
  }
  const request = koa.request as unknown as { body?: Fields; files?: Record<string, unknown> }
  return { ...withoutPrototype(request.body ?? {}), ...uploadedFiles(request.files ?? {}) }
}

/** Multipart is read as it arrives, so that files go to the disk; nothing decodes it on the way. */
function refuseEncoding(ctx: RequestContext): void {
  const encoding = ctx.internal.req.headers['content-encoding']
  if (encoding !== undefined && encoding.trim().toLowerCase() !== 'identity')
    throw new UnsupportedMediaType('A multipart body is read without a content encoding only.', {
      headers: { 'Accept-Encoding': 'identity' },
    })
}

/**
 * What koa-body and formidable say of the client's mistakes: some carry `status` or `httpCode`, others nothing. Only what
 * a system call says, such as a full disk, is not the client's.
 */
function formError(error: unknown, limit: number): unknown {
  const { status, httpCode, syscall } = error as { status?: number; httpCode?: number; syscall?: string }
  if (isHttpError(error) || syscall !== undefined) return error
  if ((httpCode ?? status) === 413)
    return new PayloadTooLarge(`The body is larger than ${limit} bytes, or has too many parts.`, {
      cause: error,
    })
  return new BadRequest('The form cannot be read.', { code: 'malformed_body', cause: error })
}

/** The parser's file objects reduced to what is promised of them. */
function uploadedFiles(files: Fields): Fields {
  const entries = Object.entries(withoutPrototype(files))
  return Object.fromEntries(
    entries.map(([name, found]) => [
      name,
      Array.isArray(found) ? found.map(uploadedFile) : uploadedFile(found),
    ]),
  )
}

function uploadedFile(found: unknown): UploadedFile {
  const { filepath, originalFilename, mimetype, size } = found as UploadedFile
  return { filepath, originalFilename, mimetype, size }
}

function withoutPrototype(fields: Fields): Fields {
  return Object.fromEntries(Object.entries(fields).filter(([name]) => name !== '__proto__'))
}

async function removeAll(uploads: readonly { filepath: string }[]): Promise<void> {
  await Promise.allSettled(uploads.map(({ filepath }) => unlink(filepath)))
}
