import { finished, type Readable } from 'node:stream'
import { isEventStream } from '../../context/outgoing.ts'
import type { RequestContext } from '../../context/request-context.ts'
import type { Logger } from '../../contracts/logger.ts'
import { describeError } from '../../errors/describe-error.ts'
import { whenClosed } from '../../support/when-closed.ts'

/**
 * Sends a stream as the body of a response. An error of the stream closes the connection and is logged. The headers of
 * server-sent events are sent immediately, those of other streams with the first bytes.
 */
export function writeStream(ctx: RequestContext, stream: Readable, reporter: Logger): void {
  const { req, res } = ctx.internal
  if (ctx.method === 'HEAD') {
    stream.destroy()
    res.end()
    return
  }
  if (isEventStream(res)) res.flushHeaders()
  // Node's `pipeline` keeps 7 KiB more for each stream.
  whenClosed(req, res, () => stream.destroy())
  res.on('error', (error) => stream.destroy(error))
  finished(stream, { writable: false }, (error) => {
    if (!error) return
    // A client that leaves early is normal; every other error is a fault of the application.
    if (error.code !== 'ERR_STREAM_PREMATURE_CLOSE') {
      reporter.error({ requestId: ctx.id, err: describeError(error) }, 'A response stream failed')
      ctx.internal.observation?.fail(error)
    }
    ctx.internal.runtime.emitError(ctx, error)
    // A stream that fails midway must not look like a complete response.
    if (!res.writableEnded) res.destroy()
  })
  stream.pipe(res)
}
