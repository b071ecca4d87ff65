import type { ServerResponse } from 'node:http'
import { Readable } from 'node:stream'
import type { Outgoing } from '../../context/outgoing.ts'
import type { RequestContext } from '../../context/request-context.ts'
import type { Logger } from '../../contracts/logger.ts'
import { whenClosed } from '../../support/when-closed.ts'
import { endExactly, writeStream } from './write-stream.ts'

const WRONG_LENGTH = 'ERR_HTTP_CONTENT_LENGTH_MISMATCH'
/** The function behind `write`: that of Node, or one by which Koa middleware has replaced it. */
const WRITE = Symbol('mortar.write')
type CountedResponse = ServerResponse & { [WRITE]?: ServerResponse['write'] }

/**
 * Makes Node count the bytes of the body that code writes itself. Call it before such code runs. All responses share the
 * function: one for each would keep its request in memory until a full collection.
 */
export function countWritten(res: CountedResponse): void {
  if (WRITE in res) return
  res[WRITE] = res.write
  res.write = countAndWrite
}

function countAndWrite(this: CountedResponse, ...given: readonly unknown[]): boolean {
  const { strictContentLength } = this
  this.strictContentLength = true
  try {
    return Reflect.apply(this[WRITE]!, this, given)
  } catch (error) {
    if (strictContentLength || (error as { code?: unknown }).code !== WRONG_LENGTH) throw error
    // The bytes would become part of the next response on the connection.
    this.destroy(error as Error)
    return false
  } finally {
    this.strictContentLength = strictContentLength
  }
}

/**
 * Ends a response whose headers the handler sent itself. If they declare a length, the body must have that length:
 * otherwise its bytes would become part of the next response on the connection.
 */
export function finishBegun(ctx: RequestContext, { payload }: Outgoing, reporter: Logger): void {
  const { req, res } = ctx.internal
  if (!(payload instanceof Readable)) return endExactly(ctx, payload, reporter)
  whenClosed(req, res, () => payload.destroy())
  writeStream(ctx, payload, reporter)
}
