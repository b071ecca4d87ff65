import type { ServerResponse } from 'node:http'
import { Readable } from 'node:stream'
import { type MarkAsRead, prepareMarkAsRead } from '../../compat/node.ts'
import type { AdapterState } from '../../context/adapter-state.ts'
import { isBodiless, type Outgoing } from '../../context/outgoing.ts'
import type { Adapter, RequestContext } from '../../context/request-context.ts'
import type { Logger } from '../../contracts/logger.ts'
import { announcesBody } from '../../support/announces-body.ts'
import { endEventStreamOnClose } from '../../pipeline/sending/end-event-stream.ts'
import { finishBegun } from '../../pipeline/sending/finish-begun.ts'
import { writeStream } from '../../pipeline/sending/write-stream.ts'

/** Creates the adapter that writes to Node's response without a Koa context. */
export function createDirectAdapter(state: AdapterState): Adapter {
  const markAsRead = prepareMarkAsRead(state.reporter)
  return {
    send(ctx, outgoing) {
      const { req, res, outer, isBodyTaken } = ctx.internal
      // Without a Koa context no code can have written to the response.
      if (outer !== undefined && res.headersSent) {
        endEventStreamOnClose(ctx, outgoing, state.open)
        return finishBegun(ctx, outgoing, state.reporter)
      }
      if (state.draining) res.setHeader('Connection', 'close')
      if (typeof outgoing.payload === 'string') {
        finishReading(ctx.internal, markAsRead)
        return writeText(ctx, outgoing, outgoing.payload)
      }
      if (isBodyTaken) req.resume()
      if (ctx.internal.id !== undefined) res.setHeader('X-Request-Id', ctx.internal.id)
      endEventStreamOnClose(ctx, outgoing, state.open)
      write(ctx, outgoing, state.reporter)
    },
  }
}

function write(ctx: RequestContext, { status, type, payload }: Outgoing, reporter: Logger): void {
  const { res } = ctx.internal
  forgetReason(res, status)
  if (payload === null) return writeEmpty(ctx, status)
  res.statusCode = status
  if (type !== undefined && !res.hasHeader('Content-Type')) res.setHeader('Content-Type', type)
  // A message has a length or a transfer encoding, never both (RFC 9112 §6.2).
  if (res.hasHeader('Transfer-Encoding')) res.removeHeader('Content-Length')
  else if (!(payload instanceof Readable)) res.setHeader('Content-Length', Buffer.byteLength(payload))
  if (payload instanceof Readable) return writeStream(ctx, payload, reporter)
  if (ctx.method === 'HEAD') res.end()
  else res.end(payload)
}

/** Removes a reason phrase that was set for another status. */
function forgetReason(res: ServerResponse, status: number): void {
  if (res.statusCode !== status) res.statusMessage = ''
}

/** Sends text, the most common payload: headers as one list, and text of one byte per character without an encoder. */
function writeText({ internal, method }: RequestContext, outgoing: Outgoing, text: string): void {
  const { res, id } = internal
  const { status, type, headers: further } = outgoing
  forgetReason(res, status)
  const length = Buffer.byteLength(text)
  const headers: string[] = further === undefined ? [] : [...further]
  if (res.hasHeader('Transfer-Encoding')) res.removeHeader('Content-Length')
  else headers.push('Content-Length', String(length))
  if (type !== undefined && !res.hasHeader('Content-Type')) headers.push('Content-Type', type)
  if (id !== undefined) headers.push('X-Request-Id', id)
  res.writeHead(status, headers)
  if (method === 'HEAD') res.end()
  else res.end(text, length === text.length ? 'latin1' : 'utf8')
}

/**
 * Marks a request without unread bytes, so that Node does not read it again. An idle connection then keeps its last
 * request in memory, about 1 kB. Skipped where code could notice the mark.
 */
function finishReading({ req, isBodyTaken }: RequestContext['internal'], markAsRead: MarkAsRead): void {
  const isHeard = req.listenerCount('end') > 0 || req.listenerCount('close') > 0
  if (!isHeard && (isBodyTaken || !announcesBody(req))) markAsRead(req)
  // Node does not always drain a request that was partly read.
  else if (isBodyTaken) req.resume()
}

function writeEmpty({ internal, method }: RequestContext, status: number): void {
  const { res } = internal
  res.statusCode = status
  if (method !== 'HEAD' || isBodiless(status)) res.removeHeader('Content-Type')
  res.removeHeader('Transfer-Encoding')
  // Node refuses it without a body, and then drops the body of the error response.
  res.removeHeader('Trailer')
  const hasNoLength = status === 204 || status === 304 || (method === 'HEAD' && status !== 205)
  if (hasNoLength) res.removeHeader('Content-Length')
  else res.setHeader('Content-Length', 0)
  res.end()
}
