import { isUtf8 } from 'node:buffer'
import type { IncomingMessage } from 'node:http'
import { finished } from 'node:stream'
import type { RequestContext } from '../context/request-context.ts'
import { BadRequest, UnsupportedMediaType } from '../errors/http-error.ts'
import { UploadedFile } from '../schema/uploaded-file.ts'
import { whenClosed } from '../support/when-closed.ts'
import { boundaryOf } from './multipart/boundary.ts'
import { type FormPart, FormReader, type FormRules } from './multipart/form-reader.ts'
import { TemporaryFiles } from './multipart/temporary-files.ts'
import { clientLeft } from './read-bytes.ts'

type Fields = Record<string, unknown>

/** Settings of a route for its forms. */
export interface Form extends FormRules {
  /** Field names whose value is always a list, even with one part. */
  readonly lists: ReadonlySet<string>
}

/**
 * Parses a multipart body. Returns fields and files in one object by name, with a list for a repeated name. The files are
 * deleted when the response closes, and before an error is thrown.
 * @throws PayloadTooLarge with a code for each limit; BadRequest or UnsupportedMediaType for a malformed form; errors of
 * the disk.
 */
export async function parseForm(ctx: RequestContext, form: Form): Promise<Fields> {
  const { req, res } = ctx.internal
  refuseEncoding(req.headers['content-encoding'])
  const boundary = boundaryOf(req.headers['content-type'])
  const files = new TemporaryFiles(form.folder)
  let hasLeft = false
  whenClosed(req, res, () => {
    hasLeft = true
    void files.remove()
  })
  try {
    return fieldsOf(await read(req, new FormReader(boundary, form, files)), form.lists)
  } catch (error) {
    await files.remove()
    // The files of a client that has left are closed while they are written.
    throw hasLeft ? clientLeft() : error
  }
}

/** Refuses a content encoding: multipart is streamed to disk and not decoded. */
function refuseEncoding(encoding: string | undefined): void {
  if (encoding !== undefined && encoding.trim().toLowerCase() !== 'identity')
    throw new UnsupportedMediaType('A multipart body must not have a Content-Encoding.', {
      headers: { 'Accept-Encoding': 'identity' },
    })
}

/** Passes the body to the reader. `pipe` costs several times as much for small chunks. */
function read(req: IncomingMessage, reader: FormReader): Promise<readonly FormPart[]> {
  const onData = (chunk: Buffer): void => {
    if (!reader.feed(chunk)) req.pause()
  }
  req.on('data', onData).once('end', () => reader.feedEnd())
  finished(req, { writable: false }, (error) => error && reader.destroy(clientLeft()))
  reader.on('drain', () => req.resume())
  return new Promise((resolve, reject) => {
    finished(reader, (error) => {
      req.off('data', onData)
      if (!req.readableEnded) req.pause()
      if (error) reject(error)
      else resolve(reader.parts)
    })
  })
}

function fieldsOf(parts: readonly FormPart[], lists: ReadonlySet<string>): Fields {
  const values = new Map<string, unknown[]>()
  for (const part of parts) {
    const value = valueOf(part)
    const before = values.get(part.head.name)
    if (before === undefined) values.set(part.head.name, [value])
    else before.push(value)
  }
  return Object.fromEntries(
    [...values].map(([name, found]) => [name, found.length > 1 || lists.has(name) ? found : found[0]]),
  )
}

function valueOf({ head, size, file, pieces }: FormPart): unknown {
  if (file !== undefined)
    return new UploadedFile({
      filepath: file.path,
      originalFilename: file.name,
      mimetype: head.mimetype,
      size,
    })
  const text = Buffer.concat(pieces)
  if (!isUtf8(text))
    throw new BadRequest('A field of the form is not valid UTF-8.', { code: 'malformed_body' })
  return text.toString('utf8')
}
