import { isEmpty } from './outgoing.ts'
import { statusOfThrown } from './thrown.ts'

/** Knows the errors of bricks. */
export interface ErrorExplainer {
  /** Returns the `HttpError` of the brick that knows an error without a status, else the error. */
  explainError(thrown: unknown): unknown
}

/** Result of the pipeline inside a middleware. */
export interface Ended {
  /** The status that was set; 0 for none. */
  readonly status: number
  /** Koa's side of the request. */
  readonly outer: { statusOf(value: unknown): number | undefined } | undefined
  readonly ended: 'no' | 'value' | 'error'
  /** The value or the error. */
  readonly end: unknown
  readonly runtime: ErrorExplainer
}

/**
 * Returns the status that is sent if outer middleware changes nothing: that of a thrown error, the status that was set,
 * or the default for the value. A value that later does not match its response schema still becomes a 500.
 */
export function statusAfter({ status, outer, ended, end, runtime }: Ended): number {
  if (ended === 'error') return statusOfThrown(runtime.explainError(end))
  if (status !== 0) return status
  const outerStatus = outer?.statusOf(end)
  if (outerStatus !== undefined) return outerStatus
  if (isEmpty(end)) return 204
  return isWebResponse(end) ? end.status : 200
}

/** The tag is read first, because the first use of `Response` makes Node load its fetch. */
function isWebResponse(value: unknown): value is Response {
  return (
    typeof value === 'object' && value !== null && Symbol.toStringTag in value && value instanceof Response
  )
}
