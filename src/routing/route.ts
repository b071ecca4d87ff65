import type { Context } from '../context/context.ts'
import type { Schema } from '../schema/schema.ts'
import type { MultipartOptions } from '../support/form-limits.ts'

/** Methods that a route can answer, in the order in which `Allow` lists them. */
export const METHODS = ['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS'] as const

export type Method = (typeof METHODS)[number]

/** Who may call a route: `true` any signed-in user, a name or names of policies (all must hold), `false` everybody. */
export type AuthRequirement = boolean | string | readonly string[]

/** The body of one status: its media type, and a schema where it is validated. A key less than both is allowed. */
export interface ResponseContent {
  /** Such as `'text/csv'`, `'application/pdf'`, `'text/event-stream'`. JSON, or text for a string, when left out. */
  readonly type?: string
  readonly schema?: Schema
  /** Description of the response in the OpenAPI document. */
  readonly description?: string
}

/** What a route declares. Each key is optional, and what is not declared adds no step to the request. */
export interface RouteDefinition {
  readonly params?: Schema
  readonly query?: Schema
  readonly headers?: Schema
  readonly body?: Schema
  /** Status → schema of the body sent with that status, or its media type. Undeclared keys are dropped. */
  readonly response?: Readonly<Record<number, Schema | ResponseContent>>
  readonly auth?: AuthRequirement
  readonly summary?: string
  readonly description?: string
  readonly tags?: readonly string[]
  /** Stable `operationId` of the OpenAPI document; by default made from method and path. */
  readonly operationId?: string
  /** Left out of the OpenAPI document when true. */
  readonly hidden?: boolean
  /** Largest accepted body: bytes, or a size such as `'2mb'`. By default the application's `bodyLimit`. */
  readonly bodyLimit?: number | string
  /** Longest time that the handler may take: seconds or a duration, 0 for no limit. By default the application's `handlerTimeout`. */
  readonly handlerTimeout?: number | string
  /** Limits of this route's forms; what it leaves out is the application's. */
  readonly multipart?: MultipartOptions
  /**
   * Media types that the body may have; by default JSON, urlencoded forms, text and bytes, and multipart/form-data alone
   * where `body` has a `file()`. An empty list leaves the body unread.
   */
  readonly consumes?: readonly string[]
}

/** Reads one entry of `response`: a schema alone is the content with that schema. */
export function readContent(entry: Schema | ResponseContent): ResponseContent {
  return '~standard' in entry || '__isYupSchema__' in entry
    ? { schema: entry as Schema }
    : (entry as ResponseContent)
}

/** The keys of a route definition, for the checks of route modules. */
export const DEFINITION_KEYS = [
  'params',
  'query',
  'headers',
  'body',
  'response',
  'auth',
  'summary',
  'description',
  'tags',
  'operationId',
  'hidden',
  'bodyLimit',
  'handlerTimeout',
  'multipart',
  'consumes',
] as const satisfies readonly (keyof RouteDefinition)[]

/** A handler's return value is the response body; see `docs/responses.md` for what each kind of value becomes. */
export type Handler = (ctx: Context) => unknown

/** Continues to the inner middleware and the handler; resolves to the handler's value. */
export type Next = () => Promise<unknown>

/** Wraps what is inside it. Its return value, when not undefined, replaces the handler's. */
export type Middleware = (ctx: Context, next: Next) => unknown

/** A middleware with the name it has in messages: its file, its router or its brick. */
export interface NamedMiddleware {
  readonly run: Middleware
  readonly origin: string
}

/** One endpoint, as plain data. */
export interface Route {
  readonly method: Method
  /** Pattern with `:name` for a parameter and `*name` for a catch-all: `/users/:id`, `/files/*path`. No trailing slash. */
  readonly path: string
  readonly definition: RouteDefinition
  readonly handler: Handler
  /** Middleware of the router it came from, outermost first; scopes of directories are not in it. */
  readonly middleware: readonly NamedMiddleware[]
  /** Where it was declared, for messages: a file, `router /prefix` or `brick auth`. */
  readonly origin: string
  /** Label of a page for developers, which `mortar dev` lists. */
  readonly page?: string
}

/** Middleware for a path prefix and everything below it. `prefix` is a pattern such as `/`, `/admin`, `/users/:id`. */
export interface MiddlewareScope {
  readonly prefix: string
  readonly middleware: NamedMiddleware
}
