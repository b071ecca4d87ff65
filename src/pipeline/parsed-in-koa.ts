import type { RequestContext } from '../context/request-context.ts'
import { UploadedFile, type UploadedFileFields } from '../schema/uploaded-file.ts'

type Fields = Readonly<Record<string, unknown>>

/**
 * Returns the body that a Koa body parser set in `ctx.request.body`, together with the files of koa-body in
 * `ctx.request.files`; undefined without a parsed body. The options of the parser decide when files are deleted.
 */
export function parsedInKoa({ internal }: RequestContext): unknown {
  const { body, files } = (internal.koa?.request ?? {}) as { body?: unknown; files?: Fields }
  if (body === undefined || files === undefined) return body
  const uploaded = Object.entries(files).map(([name, found]) => [
    name,
    Array.isArray(found) ? found.map(uploadedFile) : uploadedFile(found),
  ])
  return { ...(body as Fields), ...(Object.fromEntries(uploaded) as Fields) }
}

function uploadedFile(found: unknown): UploadedFile {
  return new UploadedFile(found as UploadedFileFields)
}
