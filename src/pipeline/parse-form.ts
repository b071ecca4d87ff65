import { unlink } from 'node:fs/promises'
import { BadRequest, isHttpError, PayloadTooLarge } from '../errors/http-error.ts'
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
 * Parses an urlencoded or multipart body with koa-body, which is loaded when the first one arrives. Files join the fields
 * under their names, an array where a name repeats.
 */
export async function parseForm(ctx: RequestContext, limit: number): Promise<Fields> {
  const { koaBody } = await import('koa-body')
  const { koa } = ctx
  const uploads: { filepath: string }[] = []
  ctx.internal.res.once('close', () => void removeAll(uploads))
  const parse = koaBody({
    multipart: true,
    json: false,
    text: false,
    urlencoded: true,
    formLimit: limit,
    parsedMethods: [ctx.method],
    formidable: {
      maxFileSize: limit,
      maxTotalFileSize: limit,
      maxFieldsSize: limit,
      allowEmptyFiles: true,
      minFileSize: 0,
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

/** What koa-body and formidable say of the client's mistakes; they carry `status` or `httpCode` (formidable). */
function formError(error: unknown, limit: number): unknown {
  const { status, httpCode } = error as { status?: number; httpCode?: number }
  const code = httpCode ?? status
  if (isHttpError(error) || code === undefined || code >= 500) return error
  if (code === 413) return new PayloadTooLarge(`The body is larger than ${limit} bytes.`, { cause: error })
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
