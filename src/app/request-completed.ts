import type { RequestContext } from '../context/request-context.ts'
import type { EventBus } from '../contracts/events.ts'
import type { Logger } from '../contracts/logger.ts'
import { whenClosed } from '../support/when-closed.ts'

/** Name of the event, and `event` of the log line. */
export const REQUEST_COMPLETED = 'request.completed'

/** A request whose response was sent or broken off. */
export interface RequestCompleted {
  readonly requestId: string
  readonly method: string
  /** Path without its query, which may hold a credential. */
  readonly path: string
  /** Pattern of the route, such as `/users/:id`; empty when none matched. */
  readonly route: string
  /** Status of the response; 499 when the client left before it began. */
  readonly status: number
  /** Milliseconds from the headers of the request to the end of the response. */
  readonly ms: number
  /** Client address. */
  readonly ip: string
  /** True when the response is not complete. */
  readonly aborted: boolean
}

/** The events of requests: `app.events.typed<RequestEvents>().on('request.completed', …)`. */
export interface RequestEvents {
  readonly 'request.completed': RequestCompleted
}

/**
 * Reports a request once its response is sent or broken off: by one log line with fields, and by an event.
 * @param logger undefined when requests are not logged.
 */
export function reportCompletion(ctx: RequestContext, logger: Logger | undefined, events: EventBus): void {
  const start = performance.now()
  const { req, res } = ctx.internal
  // Made now, so that the response carries the id of the log line; the address is gone with the connection.
  const { id: requestId, ip } = ctx
  whenClosed(req, res, () => {
    const aborted = !res.writableFinished
    const completed: RequestCompleted = {
      requestId,
      method: ctx.method,
      path: ctx.path,
      route: ctx.route,
      status: aborted && !res.headersSent ? 499 : res.statusCode,
      ms: Math.round((performance.now() - start) * 10) / 10,
      ip,
      aborted,
    }
    logger?.info({ event: REQUEST_COMPLETED, ...completed }, summaryOf(completed))
    events.emit(REQUEST_COMPLETED, completed)
  })
}

function summaryOf({ method, path, status, ms, aborted }: RequestCompleted): string {
  return `${method} ${path} ${status}${aborted ? ' aborted' : ''} ${ms} ms`
}
