import type { ObservedRequest } from '../contracts/observed-request.ts'

/** A request that a subscriber of the request channel observes. */
export interface Observation {
  readonly request: ObservedRequest
  /** Publishes the error that makes the response a 5xx or cuts it off. */
  fail(error: unknown): void
}

interface LoggedRequest {
  readonly id: string
  readonly ip: string
  readonly internal: { readonly observation: Observation | undefined }
}

/** Returns the fields of every log line of a request. */
export function logFieldsOf({ id, ip, internal }: LoggedRequest): Record<string, unknown> {
  return { requestId: id, ip, ...internal.observation?.request.logFields }
}
