import type { RequestContext } from '../../context/request-context.ts'
import { whenAnswered } from '../../context/takeover.ts'
import { isSentWhole } from '../../support/when-closed.ts'
import type { ApplicationEvents } from '../event-bus.ts'
import { finalStatus } from '../serve/final-status.ts'

/** Name of the event, and `event` of the log line. */
export const REQUEST_COMPLETED = 'request.completed'

/** A request whose response was sent or aborted. */
export interface RequestCompleted {
  readonly requestId: string
  readonly method: string
  /** Path without the query, which may contain a credential. */
  readonly path: string
  /** Pattern of the route, such as `/users/:id`; empty when none matched. */
  readonly route: string
  /** Status of the response; 499 when the client disconnected before it began. */
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

/** Writes the log line of a request. */
export type WriteRequestLine = (completed: RequestCompleted) => void

/**
 * Reports a request once its response is sent or aborted: with one log line and one event.
 * @param write undefined when requests are not logged.
 */
export function reportCompletion(
  ctx: RequestContext,
  write: WriteRequestLine | undefined,
  events: ApplicationEvents,
): void {
  const start = performance.now()
  const { req, res } = ctx.internal
  // Read now: the response needs the id of the log line, and the address is lost when the connection closes.
  const { id: requestId, ip } = ctx
  whenAnswered(req, res, () => {
    const aborted = !isSentWhole(res)
    const completed: RequestCompleted = {
      requestId,
      method: ctx.method,
      path: ctx.path,
      route: ctx.route,
      status: finalStatus(res),
      ms: Math.round((performance.now() - start) * 10) / 10,
      ip,
      aborted,
    }
    if (ctx.internal.prepare?.isQuiet !== true) write?.(completed)
    if (events.hasListeners(REQUEST_COMPLETED)) events.emit(REQUEST_COMPLETED, completed)
  })
}

/** Returns the fields and the message of a request's log line. */
export function requestLine(completed: RequestCompleted): readonly [fields: object, message: string] {
  const { requestId, method, path, route, status, ms, ip, aborted } = completed
  return [
    { event: REQUEST_COMPLETED, requestId, method, path, route, status, ms, ip, aborted },
    `${method} ${path} ${status}${aborted ? ' aborted' : ''} ${ms} ms`,
  ]
}
