import type { RequestContext } from '../context/request-context.ts'
import type { NamedMiddleware } from '../routing/route.ts'
import type { Authenticator, SecurityScheme } from '../contracts/authenticator.ts'
import type { Environment } from '../support/env/environment.ts'
import type { Limiter } from '../contracts/limiter.ts'
import type { Logger } from '../contracts/logger.ts'
import type { ProblemTable } from '../errors/problem-table.ts'
import type { Unavailable } from './unavailable.ts'
import type { FormLimits } from '../support/form-limits.ts'

/**
 * The rest of a pipeline after a step: the next steps and the handler. Returns the response value, a `Refusal`, or a
 * promise of either.
 */
export type Inner = (ctx: RequestContext) => unknown

/**
 * Adds one step in front of others. The returned function has the name of the step, for stack traces. A step that most
 * routes have is made by a function with the data and the inner steps as arguments, such as `validating`: V8 then keeps
 * both in one object. With many routes, each object of a route costs a request a cache miss.
 */
export type Step = (inner: Inner) => Inner

/**
 * The error of a refused request, which a step returns: throwing it would take 3 µs, a sixth of a small request.
 * Application code never sees this object, because `next()` rejects with the error.
 */
export class Refusal {
  readonly #error: unknown

  constructor(error: unknown) {
    this.#error = error
  }

  get error(): unknown {
    return this.#error
  }

  /** For `instanceof`. Reading the prototype of a value of the application may throw. */
  static [Symbol.hasInstance](value: unknown): boolean {
    return typeof value === 'object' && value !== null && #error in value
  }
}

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

/** Origins of middleware that skipped the rest of a request, each of which is reported once. */
const SKIPPING = new WeakSet<NamedMiddleware>()

/**
 * Warns, once for each middleware, of one that neither calls `next()` nor responds: every route behind it then sends an
 * empty 204. Outside production.
 */
export function warnOfSkipped(ctx: RequestContext, middleware: NamedMiddleware): void {
  const { status, outer } = ctx.internal
  if (status !== 0 || outer !== undefined || SKIPPING.has(middleware)) return
  SKIPPING.add(middleware)
  ctx.log.warn(
    `${middleware.origin} neither called next() nor returned a value, so ${ctx.method} ${ctx.path} has an empty response. ` +
      "Write 'return next()', or set ctx.status if the empty response is intended.",
  )
}

/** Treatment of a middleware that calls `next()` and neither awaits nor returns it. */
export type NotAwaited = 'throw' | 'log'

/** Key of a middleware of another framework, such as Koa, for the function that wraps adjacent ones of its kind. */
export const WRAP: unique symbol = Symbol('mortar.wrap')

/** Wraps the inner steps in adjacent middleware, outermost first. They share one conversion of the response. */
export type Wrap = (chain: readonly NamedMiddleware[], inner: Inner, options: WrapOptions) => Inner

/** The place of adjacent middleware in its pipeline. */
export interface WrapOptions {
  readonly onNotAwaited: NotAwaited
  /** True if no middleware is outside. */
  readonly isOutermost: boolean
}

/** The state that the compiled routes of one application share. */
export interface PipelineRuntime {
  readonly environment: Environment
  /** Problem codes of the core and of the bricks. */
  readonly problems: ProblemTable
  /** Returns the deliberate response of a brick for an unexpected error, else the error itself. */
  readonly explainError: (thrown: unknown) => unknown
  readonly logger: Logger
  readonly unavailable: Unavailable
  /** Undefined if no brick provides one; a route with `auth` is then refused at boot. */
  readonly authenticator: Authenticator | undefined
  /** Undefined if no brick provides one; a route with `limit` is then refused at boot. */
  readonly limiter: Limiter | undefined
  /** Protocols that bricks speak after an upgrade. */
  readonly upgrades: ReadonlySet<string>
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

/** Marks the handler as settled. Services with a disposer wait for this and for the end of the response. */
export function markSettled({ internal }: RequestContext): void {
  internal.isSettled = true
  internal.onSettled?.()
}
