import { pipeline, type Readable } from 'node:stream'
import { isEventStream } from '../context/outgoing.ts'
import type { RequestContext } from '../context/request-context.ts'
import type { Logger } from '../contracts/logger.ts'
import { describeError } from '../errors/describe-error.ts'

/**
 * Sends a stream as the body of a response. An error of the stream cuts the connection, and is logged. The headers of
 * server-sent events go out at once, those of other streams with the first bytes.
 */
export function writeStream(ctx: RequestContext, stream: Readable, reporter: Logger): void {
  const { res } = ctx.internal
  if (ctx.method === 'HEAD') {
    stream.destroy()
    res.end()
    return
  }
  if (isEventStream(res)) res.flushHeaders()
  pipeline(stream, res, (error) => {
    if (!error) return
    // The client may well leave before the end; anything else is the application's.
    if (error.code !== 'ERR_STREAM_PREMATURE_CLOSE')
      reporter.error({ requestId: ctx.id, err: describeError(error) }, 'A response broke off')
    ctx.internal.runtime.emitError(ctx, error)
    // A source that fails half-way must not look like a complete response.
    if (!res.writableEnded) res.destroy()
  })
}
