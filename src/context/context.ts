import type { AwilixContainer } from '#awilix'
import type { ParameterizedContext } from 'koa'
import type { Logger } from '../contracts/logger.ts'
import type { RequestCookies } from './request-cookies.ts'
import type { User } from '../contracts/user.ts'
import type { Infer, Schema } from '../schema/schema.ts'

/** The Koa context behind a request. */
export type KoaContext = ParameterizedContext

/** Headers as Node gives them: lower-case names. */
export type RequestHeaders = Readonly<Record<string, string | string[] | undefined>>

/**
 * What every handler, middleware and policy gets, whatever the application's bricks are.
 * It is the framework's own object: `body`, `query` and `status` have the meanings below, not Koa's (`ctx.koa` is that).
 */
export interface BaseContext {
  /** Request id: the caller's `X-Request-Id` when well-formed, else a new one. */
  readonly id: string
  /** Logger whose lines carry the request id and the client address. */
  readonly log: Logger
  readonly method: string
  /** Path as it was sent, still percent-encoded, without the query. */
  readonly path: string
  /** Path and query as they were sent. */
  readonly url: string
  /** Pattern of the matched route, such as `/users/:id`; empty when none matched. */
  readonly route: string
  /** Client address: the socket's, or one that a trusted proxy reports. */
  readonly ip: string
  /**
   * Aborts when the client leaves before the response is complete, when `handlerTimeout` is over, and when the
   * application begins to close. Its reason is the `HttpError` that fits.
   */
  readonly signal: AbortSignal
  /** The credential found, without a check: `Authorization: Bearer`, else cookie, else `access_token` in the query. */
  readonly token: string | null
  /** Response status. By default 200, and 204 for `undefined` and `null`. */
  status: number
  /** Response media type. A value without `/` is looked up as an extension: `ctx.type = 'html'`. */
  type: string
  /** Sets a response header, replacing earlier values. */
  set(name: string, value: string | readonly string[]): void
  /** Adds a value to a response header. */
  append(name: string, value: string | readonly string[]): void
  /** Value of a request header, or undefined; the name in any case. */
  get(name: string): string | undefined
  /**
   * Sets status (302 by default) and `Location`. The address is made safe for a header and nothing more: one that a
   * caller chose may lead anywhere (`//evil.example`), so compare it with a list before it gets here.
   */
  redirect(url: string, status?: number): void
  /** Cookies of the request and the response; they can be signed and encrypted with the option `keys`. */
  readonly cookies: RequestCookies
  /** Services of the container by name, resolved from this request's scope. */
  readonly services: Readonly<Record<string, unknown>>
  /** The request's own container scope, made on first use. */
  readonly scope: RequestScope
  readonly koa: KoaContext
}

/**
 * An awilix scope that also knows `ctx`, `user` and `requestId`. What is registered on it belongs to this request alone;
 * its disposers run when the request has ended.
 */
export interface RequestScope extends AwilixContainer<Readonly<Record<string, unknown>>> {
  /** True when a service of that name is registered. */
  has(name: string): boolean
}

/** Inputs and user as a handler without a definition sees them. */
export interface LooseInputs {
  readonly params: Readonly<Record<string, string>>
  readonly query: Readonly<Record<string, string | string[] | undefined>>
  readonly headers: RequestHeaders
  readonly body: unknown
  readonly user: User | null
}

/** Context of untyped handlers and of middleware. Members of bricks are `unknown` here; `routesFor` types them. */
export type Context = BaseContext & LooseInputs & { readonly [member: string]: unknown }

/** The input keys of a definition, as types. */
export interface InputSchemas {
  readonly params?: Schema
  readonly query?: Schema
  readonly headers?: Schema
  readonly body?: Schema
  readonly auth?: unknown
}

type InputOf<D, K extends keyof LooseInputs> = K extends keyof D
  ? D[K] extends Schema
    ? Infer<D[K]>
    : LooseInputs[K]
  : LooseInputs[K]

/** A route's own `auth` decides; where it has none, its router's. */
type UserOf<D, Guarded> = D extends { readonly auth: infer A }
  ? A extends false
    ? User | null
    : User
  : Guarded extends true
    ? User
    : User | null

/** Inputs and user as typed by a definition; `user` is non-null where the route or its router declares `auth`. */
export interface TypedInputs<D, Guarded = false> {
  readonly params: InputOf<D, 'params'>
  readonly query: InputOf<D, 'query'>
  readonly headers: InputOf<D, 'headers'>
  readonly body: InputOf<D, 'body'>
  readonly user: UserOf<D, Guarded>
}

/** Context of a handler declared with `defineRoute(definition, handler)`. */
export type DefinedContext<D, Guarded = false> = BaseContext &
  TypedInputs<D, Guarded> & { readonly [member: string]: unknown }

/** Context of a handler declared with `routesFor<typeof app>()`: the same, plus the members of the application's bricks. */
export type AppContext<D, Members, Services, Guarded = false> = Omit<BaseContext, 'services'> &
  TypedInputs<D, Guarded> &
  Members & { readonly services: Readonly<Services> }
