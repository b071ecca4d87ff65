import type { Logger } from '../contracts/logger.ts'
import type { RequestContext } from '../context/request-context.ts'

/** Logs one line when the response is done. The path stands without its query, which may hold a credential. */
export function logRequest(ctx: RequestContext, logger: Logger): void {
  const start = performance.now()
  const { res } = ctx.internal
  res.once('close', () => {
    const ms = Math.round((performance.now() - start) * 10) / 10
    const outcome = res.writableEnded ? String(res.statusCode) : 'aborted'
    logger.info(`${ctx.method} ${ctx.path} ${outcome} ${ms} ms`)
  })
}
