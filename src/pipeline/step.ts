import type { RequestContext } from '../context/request-context.ts'
import type { NamedMiddleware } from '../routing/route.ts'
import type { Authenticator, SecurityScheme } from '../contracts/authenticator.ts'
import type { Environment } from '../support/env/environment.ts'
import type { Logger } from '../contracts/logger.ts'
import type { ProblemTable } from '../errors/problem-table.ts'
import type { FormLimits } from '../support/form-limits.ts'

/** The part of a pipeline that a step runs: the steps after it and the handler. Returns the value of the response, or a promise of it. */
export type Inner = (ctx: RequestContext) => unknown

/** Puts one step in front of others. The function that it returns has the name of the step, for stack traces. */
export type Step = (inner: Inner) => Inner

/** A middleware runs what is inside it once. */
export function calledTwice({ origin }: NamedMiddleware): Error {
  return new Error(`next() was called twice in ${origin}.`)
}

/** A middleware that ends before what is inside it loses the value and the errors of what is inside. */
export function notAwaited({ origin }: NamedMiddleware): Error {
  return new Error(
    `next() was called in ${origin} and neither awaited nor returned. Write 'return next()' or 'await next()'.`,
  )
}

/** Treatment of a middleware that calls `next()` and neither awaits nor returns it. */
export type NotAwaited = 'throw' | 'log'

/** What the compiled routes of one application share. */
export interface PipelineRuntime {
  readonly environment: Environment
  /** Problem codes of the core and of the bricks. */
  readonly problems: ProblemTable
  readonly logger: Logger
  /** Undefined when no brick provides one; then a route with `auth` is refused at boot. */
  readonly authenticator: Authenticator | undefined
  /** Description of the credential in the OpenAPI document. */
  readonly securityScheme: SecurityScheme | undefined
  /** Origins besides the request's own whose pages may use a cookie credential for unsafe methods. */
  readonly trustedOrigins: readonly string[]
  /** Bytes. */
  readonly bodyLimit: number
  /** Seconds that a handler may take; 0 for no limit. */
  readonly handlerTimeout: number
  /** Limits of forms that a route does not set itself. */
  readonly multipart: FormLimits
  /** Issues of validation that a response lists. */
  readonly maxIssues: number
  /** What compiled routes load, so that the start waits for it and no request does. */
  readonly preloads: Set<() => Promise<unknown>>
}
