import type { BodilessStatus, BodyOf, Replied, Unchanged } from '../schema/response-body.ts'
import type { RESPONSES } from './context.ts'

/** A `ctx` with the responses that its route declares. */
export interface ReplyContext<Responses> {
  get status(): number
  set status(status: never)
  readonly [RESPONSES]?: Responses
}

/**
 * Sets a status and returns its body, checked against the schema of this one status: `return reply(ctx, 201, note)`.
 * Only declared statuses are allowed, also those of errors. A status without a body (204, 205, 304) needs none.
 */
export function reply<Responses, Status extends keyof Responses & BodilessStatus>(
  ctx: ReplyContext<Responses>,
  status: Status,
): Replied
export function reply<Responses, Status extends keyof Responses & number>(
  ctx: ReplyContext<Responses>,
  status: Status,
  body: BodyOf<Responses[Status]> | Unchanged,
): Replied
export function reply(ctx: { status: number }, status: number, body?: unknown): Replied {
  ctx.status = status
  // The type only marks the value as checked; the handler returns the body itself.
  return body as Replied
}
