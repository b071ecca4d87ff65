import type { ServerResponse } from 'node:http'
import { pipeline, Readable } from 'node:stream'
import type { Outgoing } from '../context/outgoing.ts'
import type { Door, RequestContext } from '../context/request-context.ts'
import type { OpenRequests } from '../context/request-signal.ts'
import type { Logger } from '../contracts/logger.ts'
import { describeError } from '../errors/describe-error.ts'
import { endEventStreamOnClose } from './end-event-stream.ts'
import { announcesBody } from '../support/announces-body.ts'

/** What the direct door needs to know of the application while it serves. */
export interface ListenerState {
  /** True once the application is closing: connections are told to end after their present response. */
  closing: boolean
  /** What ends when the application begins to close. */
  readonly open: OpenRequests
  /** Takes what goes wrong once a response has begun. */
  readonly reporter: Logger
}

/** The door that writes to Node's response without a Koa context in between. */
export function createDirectDoor(state: ListenerState): Door {
  return {
    send(ctx, outgoing) {
      const { res } = ctx.internal
      if (state.closing) res.setHeader('Connection', 'close')
      if (ctx.internal.id !== undefined) res.setHeader('X-Request-Id', ctx.internal.id)
      endEventStreamOnClose(ctx, outgoing, state.open)
      write(ctx, outgoing, state.reporter)
    },
  }
}

function write(ctx: RequestContext, { status, type, payload }: Outgoing, reporter: Logger): void {
  const { res } = ctx.internal
  if (payload === null) return writeEmpty(res, status)
  if (typeof payload === 'string') return writeText(ctx, status, type, payload)
  res.statusCode = status
  if (type !== undefined && !res.hasHeader('Content-Type')) res.setHeader('Content-Type', type)
  if (payload instanceof Readable) return writeStream(ctx, payload, reporter)
  res.setHeader('Content-Length', payload.byteLength)
  if (ctx.method === 'HEAD') res.end()
  else res.end(payload)
}

/** What nearly every response is: its headers go out as one list, and text of one byte a character needs no encoder. */
function writeText(
  { internal, method }: RequestContext,
  status: number,
  type: string | undefined,
  text: string,
): void {
  const { res } = internal
  skipReadingNothing(internal)
  const length = Buffer.byteLength(text)
  const headers = ['Content-Length', String(length)]
  if (type !== undefined && !res.hasHeader('Content-Type')) headers.push('Content-Type', type)
  res.writeHead(status, headers)
  if (method === 'HEAD') res.end()
  else res.end(text, length === text.length ? 'latin1' : 'utf8')
}

/**
 * Once a response is finished, Node reads what is left of its request, in three turns of the loop, even where nothing can
 * be left. Where nobody could notice, it is told that this was done; without its mark, Node would do it again. In
 * exchange an idle connection keeps its last request, about 1 kB.
 */
function skipReadingNothing({ req, isBodyTaken }: RequestContext['internal']): void {
  if (announcesBody(req) && !isBodyTaken) return
  if (req.listenerCount('end') > 0 || req.listenerCount('close') > 0) return
  ;(req as { _dumped?: boolean })._dumped = true
}

function writeEmpty(res: ServerResponse, status: number): void {
  res.statusCode = status
  res.removeHeader('Content-Type')
  if (status === 204 || status === 304) res.removeHeader('Content-Length')
  else res.setHeader('Content-Length', 0)
  res.end()
}

function writeStream(ctx: RequestContext, stream: Readable, reporter: Logger): void {
  const { res } = ctx.internal
  if (ctx.method === 'HEAD') {
    stream.destroy()
    res.end()
    return
  }
  pipeline(stream, res, (error) => {
    if (!error) return
    // The client may well leave before the end; anything else is the application's.
    if (error.code !== 'ERR_STREAM_PREMATURE_CLOSE')
      reporter.error({ requestId: ctx.id, err: describeError(error) }, 'A response broke off')
    // A source that fails half-way must not look like a complete response.
    if (!res.writableEnded) res.destroy()
  })
}
