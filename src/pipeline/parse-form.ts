import { isUtf8 } from 'node:buffer'
import { randomUUID } from 'node:crypto'
import type { IncomingMessage } from 'node:http'
import { finished } from 'node:stream'
import type { koaBody as KoaBody } from 'koa-body'
import type { RequestContext } from '../context/request-context.ts'
import { BadRequest, isHttpError, UnsupportedMediaType } from '../errors/http-error.ts'
import { UploadedFile } from '../schema/uploaded-file.ts'
import { whenClosed } from '../support/when-closed.ts'
import { boundaryOf } from './multipart/boundary.ts'
import { FormGuard, type FormPart, type FormRules } from './multipart/form-guard.ts'
import { loadFormParser } from './multipart/load-form-parser.ts'
import { TemporaryFiles } from './multipart/temporary-files.ts'
import { clientLeft } from './read-bytes.ts'

type Fields = Record<string, unknown>

/** The members that koa-body sets on `ctx.request`, with the keys of the guard. */
interface Parsed {
  body?: Readonly<Record<string, string>>
  files?: Readonly<Record<string, { readonly filepath: string }>>
}

/** Settings of a route for its forms. */
export interface Form extends FormRules {
  /** Field names whose value is always a list, even with one part. */
  readonly lists: ReadonlySet<string>
}

/**
 * Parses a multipart body with koa-body behind a `FormGuard`. Returns fields and files in one object by name, with a
 * list for a repeated name. The files are deleted when the response closes, and before an error is thrown.
 * @throws PayloadTooLarge with a code for each limit; BadRequest or UnsupportedMediaType for a malformed form.
 */
export async function parseForm(ctx: RequestContext, form: Form): Promise<Fields> {
  const { req, res } = ctx.internal
  refuseEncoding(req.headers['content-encoding'])
  const guard = new FormGuard(boundaryOf(req.headers['content-type']), form)
  const koaBody = await loadFormParser()
  if (req.destroyed || res.destroyed) throw clientLeft()
  const files = new TemporaryFiles(form.folder)
  whenClosed(req, res, () => void files.remove())
  try {
    const parsed = await Promise.race([failure(guard), parse(koaBody, guard, files, ctx)])
    files.check()
    return fieldsOf(guard.parts, parsed, form.lists)
  } catch (error) {
    guard.destroy()
    await files.remove()
    throw formError(error)
  }
}

/** Refuses a content encoding: multipart is streamed to disk and not decoded. */
function refuseEncoding(encoding: string | undefined): void {
  if (encoding !== undefined && encoding.trim().toLowerCase() !== 'identity')
    throw new UnsupportedMediaType('A multipart body must not have a Content-Encoding.', {
      headers: { 'Accept-Encoding': 'identity' },
    })
}

/** Rejects when the guard refuses the form. */
function failure(guard: FormGuard): Promise<never> {
  return new Promise((_, reject) => {
    guard.on('error', reject)
  })
}

async function parse(
  koaBody: typeof KoaBody,
  guard: FormGuard,
  files: TemporaryFiles,
  ctx: RequestContext,
): Promise<Parsed> {
  const request: Parsed = {}
  const middleware = koaBody({
    multipart: true,
    json: false,
    text: false,
    urlencoded: false,
    formidable: {
      ...UNLIMITED,
      ...(files.folder === undefined ? {} : { uploadDir: files.folder }),
      filename: () => `upload-${process.pid}-${randomUUID()}`,
      fileWriteStreamHandler: (file: unknown) => files.create((file as { filepath: string }).filepath),
    },
  })
  // The part of a Koa context that koa-body reads; the guard replaces the request.
  const context = { method: 'POST', req: guard, request, is: () => 'multipart' }
  const done = middleware(context as never, () => Promise.resolve())
  feed(guard, ctx.internal.req)
  await done
  return request
}

/** Passes the body to the guard. `pipe` costs several times as much for small chunks. */
function feed(guard: FormGuard, req: IncomingMessage): void {
  const onData = (chunk: Buffer): void => {
    if (!guard.feed(chunk)) req.pause()
  }
  guard.on('drain', () => req.resume())
  guard.once('close', () => {
    req.off('data', onData)
    if (!req.readableEnded) req.pause()
  })
  req.on('data', onData).once('end', () => guard.feedEnd())
  finished(req, { writable: false }, (error) => error && guard.destroy(clientLeft()))
}

/** Options of formidable without limits, because the guard checks all bytes first. */
const UNLIMITED = {
  maxFields: Infinity,
  maxFieldsSize: Infinity,
  maxFiles: Infinity,
  maxFileSize: Infinity,
  maxTotalFileSize: Infinity,
  allowEmptyFiles: true,
  minFileSize: 0,
}

function fieldsOf(parts: readonly FormPart[], parsed: Parsed, lists: ReadonlySet<string>): Fields {
  const values = new Map<string, unknown[]>()
  for (const part of parts) {
    const value = valueOf(part, parsed)
    const before = values.get(part.head.name)
    if (before === undefined) values.set(part.head.name, [value])
    else before.push(value)
  }
  return Object.fromEntries(
    [...values].map(([name, found]) => [name, found.length > 1 || lists.has(name) ? found : found[0]]),
  )
}

function valueOf({ key, head, size }: FormPart, { body = {}, files = {} }: Parsed): unknown {
  if (head.filename !== null)
    return new UploadedFile({
      filepath: files[key]!.filepath,
      originalFilename: head.filename,
      mimetype: head.mimetype,
      size,
    })
  const text = Buffer.from(body[key]!, 'base64')
  if (!isUtf8(text))
    throw new BadRequest('A field of the form is not valid UTF-8.', { code: 'malformed_body' })
  return text.toString('utf8')
}

/** Returns a 400 for a client error. Errors of system calls, such as a full disk, are returned unchanged. */
function formError(error: unknown): unknown {
  const { syscall } = error as { syscall?: string }
  if (isHttpError(error) || syscall !== undefined) return error
  return new BadRequest('The form cannot be read.', { code: 'malformed_body', cause: error })
}
