import type { CodePlace } from '../support/place-of-error.ts'
import type { LimitRule } from '../contracts/limiter.ts'
import type { Context } from '../context/context.ts'
import type { ErrorStatus } from '../schema/response-body.ts'
import type { Schema } from '../schema/schema.ts'
import type { MultipartOptions } from '../support/form-limits.ts'

/** Methods that a route can have, in the order of `Allow`. */
export const METHODS = ['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS'] as const

/** The methods of routes. */
export type Method = (typeof METHODS)[number]

/**
 * Guard of a route: `true` for any signed-in user, one or more policy names (all must allow), `false` for everybody.
 */
export type AuthRequirement<Policies extends string = string> = boolean | Policies | readonly Policies[]

/**
 * Limits of the requests of a route: a limit of its own, the name of a rule that routes share, a list of both, or `false`
 * for none.
 */
export type RouteLimit<Rules extends string = string> =
  false | Rules | LimitRule | readonly (Rules | LimitRule)[]

/**
 * The body of one status: its media type, its schema for validation, or both. Neither: no body for 204, 205 and
 * redirects, a problem for an error.
 */
export interface ResponseContent {
  /** Media type such as `'text/csv'` or `'text/event-stream'`. By default JSON, or text for a string. */
  readonly type?: string
  readonly schema?: Schema
  /** Description of the response in the OpenAPI document. */
  readonly description?: string
}

/** The declaration of a route. Each key is optional; an absent key adds no step to the request. */
export interface RouteDefinition<Policies extends string = string, Rules extends string = string> {
  readonly params?: Schema
  readonly query?: Schema
  readonly headers?: Schema
  readonly body?: Schema
  /** Schema or media type of the body for each status. Keys that the schema does not declare are removed. */
  readonly response?: Readonly<Record<number, Schema | ResponseContent>>
  /** Statuses from 400 to 599 of the errors that the handler throws, for the OpenAPI document. */
  readonly problems?: readonly ErrorStatus[]
  readonly auth?: AuthRequirement<Policies>
  /** Limits of its requests, counted by the service `limiter`. A request beyond a limit is a 429. */
  readonly limit?: RouteLimit<Rules>
  readonly summary?: string
  readonly description?: string
  readonly tags?: readonly string[]
  /** Stable `operationId` of the OpenAPI document. By default derived from method and path. */
  readonly operationId?: string
  /** True to omit the route from the OpenAPI document. */
  readonly hidden?: boolean
  /** Largest accepted body: bytes, or a size such as `'2mb'`. By default the application's `bodyLimit`. */
  readonly bodyLimit?: number | string
  /**
   * Time limit of the handler: seconds or a duration such as `'2h'`, 0 for no limit. By default the
   * application's `handlerTimeout`.
   */
  readonly handlerTimeout?: number | string
  /** False to write no log line for the requests of this route. */
  readonly logRequests?: boolean
  /** Limits of this route's forms. By default those of the application. */
  readonly multipart?: MultipartOptions
  /**
   * Accepted media types of the body. By default JSON, urlencoded forms, text and bytes; only multipart/form-data if
   * `body` has a `file()`. With an empty list the body is not read.
   */
  readonly consumes?: readonly string[]
  /**
   * True to keep the bytes of the body as `ctx.rawBody`, beside the parsed `ctx.body`: for signatures of webhooks. The
   * body may be of any type unless `body` or `consumes` restricts it; `ctx.body` is undefined for an unknown type.
   */
  readonly rawBody?: boolean
}

/** Reads one entry of `response`. A schema is short for `{ schema }`. */
export function readContent(entry: Schema | ResponseContent): ResponseContent {
  return '~standard' in entry || '__isYupSchema__' in entry
    ? { schema: entry as Schema }
    : (entry as ResponseContent)
}

/** A handler's return value is the response body; see `docs/responses.md` for what each kind of value becomes. */
export type Handler = (ctx: Context) => unknown

/** Calls the inner middleware and the handler. Resolves to the handler's value. */
export type Next = () => Promise<unknown>

/** Wraps inner middleware and the handler. A return value other than undefined replaces the handler's. */
export type Middleware = (ctx: Context, next: Next) => unknown

/** A middleware with its name for messages: its file, its router or its brick. */
export interface NamedMiddleware {
  readonly run: Middleware
  readonly origin: string
  /** True to run only for requests that match no route. */
  readonly onlyUnmatched?: boolean
}

/** One endpoint, as plain data. */
export interface Route {
  readonly method: Method
  /**
   * Pattern with `:name` for a parameter and `*name` for a catch-all: `/users/:id`, `/files/*path`. No trailing slash.
   */
  readonly path: string
  readonly definition: RouteDefinition
  readonly handler: Handler
  /** Middleware of the route's router, outermost first, without the scopes of directories. */
  readonly middleware: readonly NamedMiddleware[]
  /** Place of the declaration, for messages: a file, `router /prefix` or `brick 'auth'`. */
  readonly origin: string
  /** Place of the call that declared a route of a router, for messages. */
  readonly place?: CodePlace
  /** Label of a developer page, for the list of `mortar dev`. */
  readonly page?: string
  /** Set for a route whose requests change their connection to another protocol. */
  readonly upgrade?: RouteUpgrade
  /** The Koa router that the route comes from. It finds its layer itself, with the names and the case rule of the layer. */
  readonly adopted?: AdoptedLayer
}

/** The protocol of a route that a brick has made. */
export interface RouteUpgrade {
  /** In lower case, as the slot `upgrades` of the brick has it: `websocket`. */
  readonly protocol: string
  /** Schemas of its messages, for the AsyncAPI document. */
  readonly messages?: MessageSchemas
  /** Path of the route over which clients subscribe to a channel of a brick. */
  readonly over?: string | undefined
  /** Checks the request after its credential was evaluated, before the guard. @throws HttpError to refuse it. */
  readonly admit?: (ctx: Context) => void
  /**
   * True for a route that responds to plain requests too. Its connections and streams end with the session of their
   * credential even if the route is public, because they carry what has guards of its own.
   */
  readonly isOptional?: boolean
}

/** Schemas of messages by name: those that the application receives, and those that it sends. */
export interface MessageSchemas {
  readonly receive?: Readonly<Record<string, Schema>> | undefined
  readonly send?: Readonly<Record<string, Schema>> | undefined
}

/** The layer of a Koa router behind a route. */
export interface AdoptedLayer {
  /** The router; all layers of a router have the same one. */
  readonly router: object
  /** True if the path distinguishes upper and lower case. */
  readonly sensitive: boolean
}

/** The owner of a route that the application does not declare: `the framework` or `brick`; undefined for its own routes. */
export const ownerOf = ({ origin }: { origin: string }) => /^(?:the framework|brick)(?= )/.exec(origin)?.[0]

/** Names a route in a message: `GET /users/:id (routes/users/[id].get.ts)`. */
export function describeRoute({ method, path, origin }: Pick<Route, 'method' | 'path' | 'origin'>): string {
  return `${method} ${path} (${origin})`
}

/** Middleware for a path prefix and everything below it. `prefix` is a pattern such as `/`, `/admin`, `/users/:id`. */
export interface MiddlewareScope {
  readonly prefix: string
  readonly middleware: NamedMiddleware
}
