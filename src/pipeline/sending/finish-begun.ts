import { Readable } from 'node:stream'
import type { Outgoing } from '../../context/outgoing.ts'
import type { RequestContext } from '../../context/request-context.ts'
import type { Logger } from '../../contracts/logger.ts'
import { whenClosed } from '../../support/when-closed.ts'
import { writeStream } from './write-stream.ts'

/**
 * Ends a response whose headers the handler sent itself. If they declare a length, the body must have that length:
 * otherwise its bytes would become part of the next response on the connection.
 */
export function finishBegun(ctx: RequestContext, { payload }: Outgoing, reporter: Logger): void {
  const { res } = ctx.internal
  if (payload === null) return void res.end()
  if (payload instanceof Readable) {
    whenClosed(ctx.internal.req, res, () => payload.destroy())
    return writeStream(ctx, payload, reporter)
  }
  const promised = res.getHeader('Content-Length')
  const isOpenEnded = res.chunkedEncoding || !res.shouldKeepAlive
  if (isOpenEnded || ctx.method === 'HEAD' || Number(promised) === Buffer.byteLength(payload)) {
    res.end(payload)
    return
  }
  reporter.error(
    { requestId: ctx.id },
    'The length of a body differs from the Content-Length that was already sent, so the connection was closed',
  )
  res.destroy()
}
