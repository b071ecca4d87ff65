import {
  defineRoute,
  type AppContext,
  type Context,
  type CoreServices,
  type DefinedContext,
  type DefinedRoute,
  type Infer,
  type MembersOf,
  type PolicyNames,
  type RouteDefinition,
  type RuleNames,
  type Schema,
  type ServicesOf,
  type TypedApp,
} from 'mortar'
import { BOUND_KEYS, readBounds, type SocketBounds } from './options.ts'
import type { Socket } from './socket.ts'
import { createSocketRoute } from './socket-route.ts'
import { admit, open } from './sockets.ts'

declare const MESSAGES: unique symbol

/** The keys of a route that a socket route has too. */
type SharedKey =
  'params' | 'query' | 'headers' | 'auth' | 'limit' | 'logRequests' | 'summary' | 'description' | 'tags'

/** The declaration of a socket route. */
export interface SocketDefinition<Policies extends string = string, Rules extends string = string>
  extends Pick<RouteDefinition<Policies, Rules>, SharedKey>, SocketBounds {
  /** Schema of the messages of clients. Without it a client may send none. */
  readonly receive?: Schema
  /** Schema of the messages to clients. Keys that it does not declare are removed. */
  readonly send?: Schema
}

/** The type of an unknown key of a definition. */
type Known<D, Definition> = Definition & { readonly [Key in Exclude<keyof D, keyof SocketDefinition>]: never }

type Received<D> = D extends { readonly receive: infer S extends Schema } ? Infer<S> : never
type Sent<D> = D extends { readonly send: infer S extends Schema } ? Infer<S> : unknown

/** A socket route: the default export of a file such as `rooms/[id].ws.ts`, or the argument of `router.get(path, route)`. */
export interface SocketRoute<Receive = never, Send = unknown> extends DefinedRoute {
  /** Carries the types of the messages; no value has this key. */
  readonly [MESSAGES]?: { readonly receive: Receive; readonly send: Send }
}

/** The messages that a client of a socket route sends. */
export type MessagesTo<Route> = Route extends SocketRoute<infer Receive, infer _Send> ? Receive : unknown
/** The messages that a client of a socket route receives. */
export type MessagesFrom<Route> = Route extends SocketRoute<infer _Receive, infer Send> ? Send : unknown

/** The form of `defineSocket` for one application. */
export type SocketMaker<Members, Services> = <
  const D extends Known<D, SocketDefinition<PolicyNames<Services>, RuleNames<Services>>>,
>(
  definition: D,
  handler: (ctx: AppContext<D, Members, Services>, socket: Socket<Received<D>, Sent<D>>) => unknown,
) => SocketRoute<Received<D>, Sent<D>>

/**
 * Defines a socket route: the request passes guard, validation and limits as any request, and then the handler runs until
 * it returns, which closes the socket. Messages are JSON, typed and validated by the schemas `receive` and `send`.
 * @throws StartupError `MORTAR_REALTIME_OPTION` for an invalid bound.
 */
export function defineSocket<const D extends Known<D, SocketDefinition>>(
  definition: D,
  handler: (ctx: DefinedContext<D>, socket: Socket<Received<D>, Sent<D>>) => unknown,
): SocketRoute<Received<D>, Sent<D>> {
  const given: SocketDefinition = definition
  const { receive, send, ...rest } = given
  const own = new Set<string>(BOUND_KEYS)
  const keys = Object.entries(rest)
  const bounds = readBounds(Object.fromEntries(keys.filter(([key]) => own.has(key))), 'defineSocket()')
  const ofRoute = Object.fromEntries(keys.filter(([key]) => !own.has(key)))
  const route = createSocketRoute({
    receive,
    send,
    bounds,
    isLogged: given.logRequests !== false,
    // The pipeline has validated the inputs, and the socket validates its messages, against this same definition.
    handler: handler as never,
  })
  return {
    // The document describes requests and responses, and a handler may run for hours.
    ...defineRoute({ ...ofRoute, hidden: true, handlerTimeout: 0 }, (ctx: Context) => open(ctx, route)),
    upgrade: {
      protocol: 'websocket',
      admit,
      messages: { receive: receive && { message: receive }, send: send && { message: send } },
    },
  }
}

/**
 * Returns a `defineSocket` whose `ctx` has the members, services, policies and rules of an application:
 * `export const socket = socketsFor<typeof app>()`.
 */
export function socketsFor<A extends TypedApp>(): SocketMaker<
  MembersOf<A>,
  ServicesOf<A> & Omit<CoreServices, keyof ServicesOf<A>>
> {
  return defineSocket as never
}
