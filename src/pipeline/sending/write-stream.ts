import type { ServerResponse } from 'node:http'
import type { Readable } from 'node:stream'
import { isEventStream } from '../../context/outgoing.ts'
import type { RequestContext } from '../../context/request-context.ts'
import type { Logger } from '../../contracts/logger.ts'
import { describeError } from '../../errors/describe-error.ts'
import { isUnavailable, logUnavailable } from '../unavailable.ts'
import { hasEndedEmpty } from '../when-readable.ts'

/**
 * Sends a stream, which already ends with the response, as its body. An error of the stream closes the connection and is
 * logged. The headers of server-sent events are sent immediately, those of other streams with the first bytes.
 */
export function writeStream(ctx: RequestContext, stream: Readable, reporter: Logger): void {
  const { res } = ctx.internal
  res.strictContentLength = true
  const end = (): void => endExactly(ctx, null, reporter)
  if (ctx.method === 'HEAD' || hasEndedEmpty(stream)) {
    stream.destroy()
    return end()
  }
  if (isEventStream(res)) res.flushHeaders()
  // Node compares with the length of headers that it has written.
  else if (!res.headersSent && res.hasHeader('Content-Length')) res.writeHead(res.statusCode)
  res.on('error', (error) => stream.destroy(error))
  if (stream.errored) return fail(ctx, stream.errored, reporter)
  if (stream.destroyed) return fail(ctx, closedEarly(), undefined)
  // An event stream that was ended reports what its signal has aborted.
  stream.on('error', (error) => fail(ctx, error, res.writableEnded ? undefined : reporter))
  stream.on('close', () => {
    if (!stream.readableEnded && !stream.errored) fail(ctx, closedEarly(), undefined)
  })
  stream.on('data', copyTo(res)).on('end', end)
}

/**
 * Ends a response. If it has another length than it declares, with the bytes that code has written itself, the connection
 * is closed: the rest would become part of the next response.
 */
export function endExactly(ctx: RequestContext, rest: string | Buffer | null, reporter: Logger): void {
  const { res } = ctx.internal
  res.strictContentLength = true
  try {
    res.end(rest ?? undefined)
  } catch (error) {
    fail(ctx, error as Error, reporter)
  }
}

/** A client that leaves early is normal, so this error is not logged. */
function closedEarly(): Error {
  return Object.assign(new Error('Premature close'), { code: 'ERR_STREAM_PREMATURE_CLOSE' })
}

/** Copies a stream with one listener. Node's `finished` and `pipe` keep 2 KiB more for each open stream. */
function copyTo(res: ServerResponse) {
  return function copy(this: Readable, chunk: Buffer): void {
    try {
      if (res.write(chunk)) return
      this.pause()
      res.once('drain', () => void this.resume())
    } catch (error) {
      this.destroy(error as Error)
    }
  }
}

function fail(ctx: RequestContext, error: Error, reporter: Logger | undefined): void {
  const { res, runtime, observation } = ctx.internal
  if (reporter !== undefined) {
    const explained = runtime.explainError(error)
    const fields = { requestId: ctx.id, route: ctx.route }
    if (isUnavailable(explained)) logUnavailable(runtime.outages, explained, fields)
    else reporter.error({ ...fields, err: describeError(error) }, 'The body of a response failed')
    observation?.fail(error)
  }
  runtime.emitError(ctx, error)
  // A stream that fails midway must not look like a complete response.
  if (!res.writableEnded) res.destroy()
}
