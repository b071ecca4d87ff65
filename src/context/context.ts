import type { AwilixContainer } from 'awilix/browser'
import type { ParameterizedContext } from 'koa'
import type { Logger } from '../contracts/logger.ts'
import type { RequestCookies } from './request-cookies.ts'
import type { SignedInUser } from '../contracts/authenticator.ts'
import type { User } from '../contracts/user.ts'
import type { Replied, StatusOf } from '../schema/response-body.ts'
import type { Infer, Schema } from '../schema/schema.ts'

/** The Koa context behind a request. */
export type KoaContext = ParameterizedContext

/** Headers as Node provides them, with lower-case names. */
export type RequestHeaders = Readonly<Record<string, string | string[] | undefined>>

/**
 * The `ctx` of every handler, middleware and policy, without the members of bricks. It is the framework's own object:
 * `body`, `query` and `status` have the meanings below, not those of Koa. The Koa context is `ctx.koa`.
 */
export interface BaseContext {
  /** Request id: the caller's `X-Request-Id` when well-formed, else a new one. */
  readonly id: string
  /** Logger whose lines carry the request id and the client address. */
  readonly log: Logger
  readonly method: string
  /** Path as the client sent it: percent-encoded, without the query. */
  readonly path: string
  /** Path and query as the client sent them. */
  readonly url: string
  /** Pattern of the matched route, such as `/users/:id`; empty when none matched. */
  readonly route: string
  /** Client address: the socket's, or the one that a trusted proxy reports. */
  readonly ip: string
  /**
   * Aborts when the client disconnects before the response is complete, when `handlerTimeout` expires, and when the
   * application begins to close. Its reason is the matching `HttpError`.
   */
  readonly signal: AbortSignal
  /** The unverified credential: `Authorization: Bearer`, else cookie, else `access_token` in the query. */
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
   * Sets status (302 by default) and `Location`. The address is only escaped for the header. An address from the client
   * may lead anywhere (`//evil.example`), so compare it with a list first. The result may be returned under every
   * declaration of responses.
   */
  redirect(url: string, status?: number): Replied
  /** Cookies of the request and the response; they can be signed and encrypted with the option `keys`. */
  readonly cookies: RequestCookies
  /** Services of the container by name, resolved from this request's scope. */
  readonly services: Readonly<Record<string, unknown>>
  /** The request's own container scope, created on first use. */
  readonly scope: RequestScope
  readonly koa: KoaContext
}

/**
 * An awilix scope that also provides `ctx`, `user` and `requestId`. Services registered on it belong to this request
 * only. Their disposers run when the request has ended.
 */
export interface RequestScope extends Omit<
  AwilixContainer<Readonly<Record<string, unknown>>>,
  'loadModules'
> {
  /** True if a service with that name is registered. */
  has(name: string): boolean
}

/** Inputs and user in a handler without a definition. */
export interface LooseInputs {
  readonly params: Readonly<Record<string, string>>
  readonly query: Readonly<Record<string, string | string[] | undefined>>
  readonly headers: RequestHeaders
  readonly body: unknown
  readonly user: User | null
}

/** Context of untyped handlers and of middleware. Members of bricks are `unknown`; `routesFor` types them. */
export type Context = BaseContext & LooseInputs & { readonly [member: string]: unknown }

type InputOf<D, K extends keyof LooseInputs, Otherwise = LooseInputs[K]> = K extends keyof D
  ? D[K] extends Schema
    ? Infer<D[K]>
    : Otherwise
  : Otherwise

/** Uses the `auth` of the route, else that of its router. */
type UserOf<D, Guarded, SignedIn> = D extends { readonly auth: infer A }
  ? A extends false
    ? SignedIn | null
    : SignedIn
  : Guarded extends true
    ? SignedIn
    : SignedIn | null

/** Carries the declared responses of a route from its `ctx` to `reply`; no value has this key. */
export declare const RESPONSES: unique symbol

type ResponsesOf<D> = D extends { readonly response: infer Responses } ? Responses : undefined

/**
 * Inputs, user and status as a definition types them. `user` is non-null if the route or its router declares `auth`.
 * `Params` are the parameters of the path, where it is known; a schema for `params` precedes them.
 */
export interface TypedInputs<D, Guarded = false, Params = LooseInputs['params'], SignedIn = User> {
  readonly params: InputOf<D, 'params', Params>
  readonly query: InputOf<D, 'query'>
  readonly headers: InputOf<D, 'headers'>
  readonly body: InputOf<D, 'body'>
  readonly user: UserOf<D, Guarded, SignedIn>
  /** A success status has to be declared in `response`, if the route declares any. */
  get status(): number
  set status(status: StatusOf<D>)
  readonly [RESPONSES]?: ResponsesOf<D>
}

/** The bytes of the body, for a definition with `rawBody: true`. They are empty for a request without a body. */
type RawBodyOf<D> = D extends { readonly rawBody: true } ? { readonly rawBody: Buffer } : unknown

// `status` is in one part only: TypeScript would evaluate its type for each route otherwise, not only where it is used.

/** Context of a handler declared with `defineRoute(definition, handler)`. */
export type DefinedContext<D, Guarded = false, Params = LooseInputs['params']> = Omit<BaseContext, 'status'> &
  TypedInputs<D, Guarded, Params> &
  RawBodyOf<D> & { readonly [member: string]: unknown }

/** Context of a handler declared with `routesFor<typeof app>()`: `DefinedContext` plus the members of the bricks. */
export type AppContext<D, Members, Services, Guarded = false, Params = LooseInputs['params']> = Omit<
  BaseContext,
  'services' | 'status'
> &
  TypedInputs<D, Guarded, Params, SignedInUser<Services>> &
  RawBodyOf<D> &
  Members & { readonly services: Readonly<Services> }
