import { Readable } from 'node:stream'
import type { KoaContext } from './context.ts'
import type { Outgoing } from './outgoing.ts'
import type { RequestContext } from './request-context.ts'

/*
 * The one place where both meanings of body and status meet. In Koa `ctx.body` is the response; in a handler's ctx it is
 * the validated request body. `test/pipeline/koa-middleware.test.ts` holds this file to what Koa middleware expects.
 */

/** Shows Koa middleware the response as it stands: after `next()` it finds status, type and body where it looks for them. */
export function showToKoa(ctx: RequestContext, koa: KoaContext, outgoing: Outgoing): void {
  const { response } = koa
  // The type is set first, because Koa guesses one from the text of a body that has none.
  if (outgoing.type !== undefined && !koa.res.hasHeader('Content-Type'))
    response.set('Content-Type', outgoing.type)
  response.body = outgoing.payload
  response.status = outgoing.status
  ctx.internal.shown = outgoing
  ctx.internal.status = outgoing.status
}

/**
 * The response that Koa code left on its context, or undefined when it left none; `'answered'` when it has answered by
 * itself (`koa.respond = false`, or bytes already written).
 */
export function takeFromKoa(ctx: RequestContext, koa: KoaContext): Outgoing | 'answered' | undefined {
  if (koa.respond === false || ctx.internal.res.headersSent) return 'answered'
  const { shown } = ctx.internal
  const { body, status } = koa.response
  if (shown !== undefined && body === shown.payload && status === shown.status) return shown
  if (body === undefined || body === null)
    return wroteStatus(koa) ? { status, type: undefined, payload: null } : undefined
  return { status, type: undefined, payload: payloadOf(body) }
}

/** Koa keeps this mark when a status was set, not only assumed. */
function wroteStatus(koa: KoaContext): boolean {
  return (koa.response as unknown as { _explicitStatus?: boolean })._explicitStatus === true
}

function payloadOf(body: unknown): Outgoing['payload'] {
  if (typeof body === 'string' || Buffer.isBuffer(body) || body instanceof Readable) return body
  if (body instanceof Blob) return Readable.from(body.stream(), { objectMode: false })
  if (body instanceof Response) return body.body ? Readable.from(body.body, { objectMode: false }) : null
  if (body instanceof ReadableStream) return Readable.from(body, { objectMode: false })
  return JSON.stringify(body)
}
