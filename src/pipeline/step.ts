import type { RequestContext } from '../context/request-context.ts'
import type { NamedMiddleware } from '../routing/route.ts'
import type { Authenticator, SecurityScheme } from '../contracts/authenticator.ts'
import type { Environment } from '../support/env/environment.ts'
import type { Limiter } from '../contracts/limiter.ts'
import type { Logger } from '../contracts/logger.ts'
import type { ProblemTable } from '../errors/problem-table.ts'
import type { FormLimits } from '../support/form-limits.ts'

/**
 * The rest of a pipeline after a step: the next steps and the handler. Returns the response value or a promise of it.
 */
export type Inner = (ctx: RequestContext) => unknown

/** Adds one step in front of others. The returned function has the name of the step, for stack traces. */
export type Step = (inner: Inner) => Inner

/** The error for a middleware that calls `next()` twice. */
export function calledTwice({ origin }: NamedMiddleware): Error {
  return new Error(`next() was called twice in ${origin}.`)
}

/** The error for a middleware that does not await `next()`: it would lose the inner value and the inner errors. */
export function notAwaited({ origin }: NamedMiddleware): Error {
  return new Error(
    `next() was called in ${origin} and neither awaited nor returned. Write 'return next()' or 'await next()'.`,
  )
}

/** Treatment of a middleware that calls `next()` and neither awaits nor returns it. */
export type NotAwaited = 'throw' | 'log'

/** The state that the compiled routes of one application share. */
export interface PipelineRuntime {
  readonly environment: Environment
  /** Problem codes of the core and of the bricks. */
  readonly problems: ProblemTable
  /** Returns the deliberate response of a brick for an unexpected error, else the error itself. */
  readonly explainError: (thrown: unknown) => unknown
  readonly logger: Logger
  /** Undefined if no brick provides one; a route with `auth` is then refused at boot. */
  readonly authenticator: Authenticator | undefined
  /** Undefined if no brick provides one; a route with `limit` is then refused at boot. */
  readonly limiter: Limiter | undefined
  /** Description of the credential in the OpenAPI document. */
  readonly securityScheme: SecurityScheme | undefined
  /** Origins besides the request's own whose pages may use a cookie credential for unsafe methods. */
  readonly trustedOrigins: readonly string[]
  /** Bytes. */
  readonly bodyLimit: number
  /** Time limit of a handler in seconds; 0 for no limit. */
  readonly handlerTimeout: number
  /** Default limits of forms. */
  readonly multipart: FormLimits
  /** Maximum validation issues in a response. */
  readonly maxIssues: number
  /** Loaders of packages that compiled routes need. They run at the start, so that no request waits for them. */
  readonly preloads: Set<() => Promise<unknown>>
}
