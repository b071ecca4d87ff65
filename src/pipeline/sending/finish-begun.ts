import type { ServerResponse } from 'node:http'
import { Readable } from 'node:stream'
import type { Outgoing } from '../../context/outgoing.ts'
import type { RequestContext } from '../../context/request-context.ts'
import type { Logger } from '../../contracts/logger.ts'
import { whenClosed } from '../../support/when-closed.ts'
import { bytesWrittenTo } from './written-bytes.ts'
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
  const isOpenEnded = res.chunkedEncoding || !res.shouldKeepAlive
  if (isOpenEnded || ctx.method === 'HEAD') return void res.end(payload)
  if (endsExactly(res, payload)) return
  reporter.error(
    { requestId: ctx.id },
    'The length of a body differs from the Content-Length that was already sent, so the connection was closed',
  )
  res.destroy()
}

/** Ends a response if its body has the declared length. Only Node knows a length that `writeHead()` received. */
function endsExactly(res: ServerResponse, payload: string | Uint8Array): boolean {
  const written = bytesWrittenTo(res)
  const promised = res.getHeader('Content-Length')
  const isKnown = promised !== undefined
  if (isKnown ? Number(promised) !== written + Buffer.byteLength(payload) : written > 0) return false
  res.strictContentLength = !isKnown
  try {
    res.end(payload)
    return true
  } catch {
    return false
  }
}
