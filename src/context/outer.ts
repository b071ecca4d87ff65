import type { KoaContext } from './context.ts'
import type { Outgoing } from './outgoing.ts'

/** Koa's side of a request. It exists once Koa code has seen the request; the request path knows nothing else of Koa. */
export interface Outer {
  readonly koa: KoaContext
  /** Returns the body that a Koa body parser has set; undefined without one. */
  takeBody(): unknown
  /**
   * Returns the response for the final value if Koa code has set it. Undefined if the value is not Koa's; `'answered'` if
   * nothing is left to send.
   */
  take(value: unknown): Outgoing | 'answered' | undefined
  /** Returns the status that belongs to a value which Koa code has seen; undefined for any other value. */
  statusOf(value: unknown): number | undefined
  /** Closes a stream that is not sent. */
  drop(): void
}
