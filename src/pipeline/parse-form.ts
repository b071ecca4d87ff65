import type { RequestContext } from '../context/request-context.ts'
import { UnsupportedMediaType } from '../errors/http-error.ts'
import { whenClosed } from '../support/when-closed.ts'
import { boundaryOf } from './multipart/boundary.ts'
import { PartScanner } from './multipart/part-scanner.ts'
import { type FormRules, readForm } from './multipart/read-form.ts'
import { TemporaryFiles } from './multipart/temporary-files.ts'
import { clientLeft } from './read-bytes.ts'

/** Settings of a route for its forms. */
export interface Form extends FormRules {
  /** Field names whose value is always a list, even with one part. */
  readonly lists: ReadonlySet<string>
}

/**
 * Parses a multipart body. Returns fields and files in one object by name, with a list for a repeated name. The files are
 * deleted when the response closes, and before an error is thrown.
 * @throws PayloadTooLarge with a code for each limit; BadRequest or UnsupportedMediaType for a malformed form;
 * ServiceUnavailable if the disk is full or fails.
 */
export async function parseForm(ctx: RequestContext, form: Form): Promise<Record<string, unknown>> {
  const { req, res } = ctx.internal
  refuseEncoding(req.headers['content-encoding'])
  const boundary = boundaryOf(req.headers['content-type'])
  const files = new TemporaryFiles(form.folder)
  let hasLeft = false
  whenClosed(req, res, () => {
    hasLeft = true
    void files.remove()
  })
  const source = req.iterator({ destroyOnReturn: false }) as NodeJS.AsyncIterator<Buffer, undefined>
  try {
    const values = await readForm(new PartScanner(source, boundary, form), form, files)
    await files.whenWritten()
    return Object.fromEntries(
      [...values].map(([name, found]) => [name, found.length > 1 || form.lists.has(name) ? found : found[0]]),
    )
  } catch (error) {
    await files.remove()
    // The files of a client that has left are closed while they are written.
    throw hasLeft ? clientLeft() : error
  } finally {
    await source.return?.()
  }
}

/** Refuses a content encoding: multipart is streamed to disk and not decoded. */
function refuseEncoding(encoding: string | undefined): void {
  if (encoding !== undefined && encoding.trim().toLowerCase() !== 'identity')
    throw new UnsupportedMediaType('A multipart body must not have a Content-Encoding.', {
      headers: { 'Accept-Encoding': 'identity' },
    })
}
