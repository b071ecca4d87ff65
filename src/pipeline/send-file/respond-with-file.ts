import { extname } from 'node:path'
import { Readable } from 'node:stream'
import contentDisposition from 'content-disposition'
import { fullMediaType } from '../../context/full-media-type.ts'
import type { RequestContext } from '../../context/request-context.ts'
import { clientLeft } from '../../context/request-signal.ts'
import { checkOptions, type OptionChecks } from '../../support/check-options.ts'
import { seconds } from '../../support/duration.ts'
import { loadMediaTypes } from '../../support/lazy-packages.ts'
import { whenClosed } from '../../support/when-closed.ts'
import type { FileSource, SendFileOptions } from './send-file-options.ts'
import { checkPreconditions, isFresh, rangeOf, type Validators } from './conditions.ts'
import { lengthOf, type ByteRange } from './byte-range.ts'
import { openFile, type OpenedFile } from './open-file.ts'

const OPTIONS: OptionChecks<SendFileOptions> = {
  of: 'sendFile()',
  keys: {
    // Without its folder, every path would be allowed.
    root: { is: 'string', guard: true },
    dotfiles: 'boolean',
    filename: 'string',
    inline: 'boolean',
    type: 'string',
    maxAge: ['number', 'string'],
    immutable: 'boolean',
    cacheControl: ['string', 'false'],
  },
}

/** Opens the file and sets status and headers. Returns the stream of the body; an empty one for HEAD and 304. */
export async function respondWithFile(
  ctx: RequestContext,
  source: string | Uint8Array | FileSource,
  options: SendFileOptions,
): Promise<Readable> {
  checkOptions(options, OPTIONS)
  const file = await openFile(source, options)
  let range: ByteRange | undefined
  try {
    if (ctx.internal.res.destroyed) throw clientLeft()
    range = prepare(ctx, file, options)
  } catch (error) {
    await file.close()
    throw error
  }
  if (range === undefined) {
    await file.close()
    return Readable.from([], { objectMode: false })
  }
  const stream = await file.read(range)
  // The stream also ends with the response if the handler never returns it.
  whenClosed(ctx.internal.req, ctx.internal.res, () => stream.destroy())
  return stream
}

/** Sets status and headers. Returns the part to send; undefined for no bytes. */
function prepare(ctx: RequestContext, file: OpenedFile, options: SendFileOptions): ByteRange | undefined {
  const { internal, method } = ctx
  const { headers } = internal.req
  const validators = { etag: file.etag, lastModified: file.lastModified?.toUTCString() }
  const whole = { start: 0, end: file.size - 1 }
  const isRead = method === 'GET' || method === 'HEAD'
  // Conditions and ranges concern the content at a URL, not an error page and not the result of a POST.
  if (!isRead || (internal.status || 200) !== 200) {
    setCaching(ctx, validators, options)
    return setContent(ctx, file, options, whole)
  }
  checkPreconditions(headers, validators)
  if (isFresh(headers, validators)) {
    setCaching(ctx, validators, options)
    ctx.status = 304
    return undefined
  }
  const part = method === 'GET' ? rangeOf(headers, file.size, validators) : undefined
  setCaching(ctx, validators, options)
  ctx.set('Accept-Ranges', 'bytes')
  if (part !== undefined) setPart(ctx, part, file)
  return setContent(ctx, file, options, part ?? whole)
}

function setPart(ctx: RequestContext, { start, end }: ByteRange, { size }: OpenedFile): void {
  ctx.status = 206
  ctx.set('Content-Range', `bytes ${start}-${end}/${size}`)
}

function setCaching(ctx: RequestContext, validators: Validators, options: SendFileOptions): void {
  const { etag, lastModified } = validators
  if (etag !== undefined) ctx.set('ETag', etag)
  if (lastModified !== undefined) ctx.set('Last-Modified', lastModified)
  const cacheControl = options.cacheControl ?? cacheControlOf(ctx, options)
  if (cacheControl !== false && !ctx.internal.res.hasHeader('Cache-Control'))
    ctx.set('Cache-Control', cacheControl)
}

/** By default caches ask each time. What a signed-in user may read is not for shared caches. */
function cacheControlOf({ user }: RequestContext, { maxAge, immutable }: SendFileOptions): string {
  if (maxAge === undefined) return user === null ? 'no-cache' : 'private, no-cache'
  const age = `${user === null ? 'public' : 'private'}, max-age=${Math.floor(seconds(maxAge))}`
  return immutable === true ? `${age}, immutable` : age
}

/** Sets the headers of the body. Returns the part to send. */
function setContent(
  ctx: RequestContext,
  { name: found }: OpenedFile,
  { filename, inline = false, type }: SendFileOptions,
  range: ByteRange,
): ByteRange | undefined {
  const { res } = ctx.internal
  const length = lengthOf(range)
  if (type !== undefined) res.setHeader('Content-Type', fullMediaType(type))
  else if (!res.hasHeader('Content-Type')) {
    const known = loadMediaTypes().contentType(extname(filename ?? found))
    if (known) res.setHeader('Content-Type', known)
  }
  if (filename !== undefined) {
    const kind = inline ? 'inline' : 'attachment'
    // Half a surrogate pair cannot be percent-encoded, and a name may come from a client.
    const name = filename.replaceAll(/\p{Surrogate}/gu, '\uFFFD')
    res.setHeader('Content-Disposition', contentDisposition(name, { type: kind }))
  }
  // Browsers must not read a script in a file of another type.
  res.setHeader('X-Content-Type-Options', 'nosniff')
  res.setHeader('Content-Length', length)
  return ctx.method === 'HEAD' || length === 0 ? undefined : range
}
