import type { ServerResponse } from 'node:http'
import { Readable } from 'node:stream'
import type { Outgoing } from '../../context/outgoing.ts'
import type { RequestContext } from '../../context/request-context.ts'
import type { Logger } from '../../contracts/logger.ts'
import { whenClosed } from '../../support/when-closed.ts'
import { writeStream } from './write-stream.ts'

const WRITTEN = Symbol('written')

type Counted = ServerResponse & { [WRITTEN]?: number }

/**
 * Counts the bytes of the body that code writes itself, which Node does not tell. Call it before such code runs. All
 * responses share the function: one for each would keep its request in memory until a full collection.
 */
export function countWritten(res: ServerResponse): void {
  if (!Object.hasOwn(res, 'write')) res.write = countAndWrite
}

function countAndWrite(this: Counted, ...given: readonly unknown[]): boolean {
  const [chunk, encoding] = given as [string | Uint8Array, BufferEncoding?]
  const length = typeof chunk === 'string' ? Buffer.byteLength(chunk, encoding) : (chunk?.length ?? 0)
  this[WRITTEN] = (this[WRITTEN] ?? 0) + length
  return Reflect.apply(Object.getPrototypeOf(this).write, this, given)
}

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
function endsExactly(res: Counted, payload: string | Uint8Array): boolean {
  const written = res[WRITTEN] ?? 0
  const promised = res.getHeader('Content-Length')
  if (promised !== undefined && Number(promised) !== written + Buffer.byteLength(payload)) return false
  res.strictContentLength = promised === undefined
  try {
    res.end(payload)
    return true
  } catch {
    return false
  }
}
