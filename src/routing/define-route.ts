import type { CoreServices } from '../contracts/services.ts'
import type { AppContext, DefinedContext } from '../context/context.ts'
import type { PolicyNames } from '../contracts/authenticator.ts'
import type { RuleNames } from '../contracts/limiter.ts'
import type { ResultOf } from '../schema/response-body.ts'
import type { Handler, RouteDefinition, RouteUpgrade } from './route.ts'

const DEFINED_ROUTE = Symbol.for('mortar.defined-route')

/** The result of `defineRoute` and `routesFor`: the default export of a route module. */
export interface DefinedRoute {
  readonly [DEFINED_ROUTE]: true
  readonly definition: RouteDefinition
  readonly handler: Handler
  /** Set for a route that changes the protocol. */
  readonly upgrade?: RouteUpgrade
}

/** Carries the types of an application's ctx members and services; no value has this key. */
export declare const TYPES: unique symbol

/** Anything that carries the types of an application, such as the result of `createApp().use(…)`. */
export interface TypedApp<Members = unknown, Services = unknown> {
  readonly [TYPES]?: { readonly members: Members; readonly services: Services }
}

/** The members that bricks add to the `ctx` of an application. */
export type MembersOf<A> = A extends TypedApp<infer Members, unknown> ? Members : unknown
/** The services of an application, without those of the core. */
export type ServicesOf<A> = A extends TypedApp<unknown, infer Services> ? Services : unknown

/** The services of `ctx.services` in a handler of the application: its own and the core's. */
export type HandlerServices<A> = ServicesOf<A> & Omit<CoreServices, keyof ServicesOf<A>>

/** The type of a definition that has an unknown key. No value has this property. */
export interface UnknownKey {
  readonly [TYPES]: never
}

/**
 * The constraint of a definition. It fails for a key that a definition does not have: `querry` would otherwise be silently
 * ignored. TypeScript then compares the object with `RouteDefinition`, and its message names the key and a similar one.
 */
export type KnownKeys<D, Definition = RouteDefinition> = [Exclude<keyof D, keyof RouteDefinition>] extends [
  never,
]
  ? Definition
  : Definition & UnknownKey

/**
 * The handler of a definition. A conditional type, because TypeScript then knows the result that is expected before it
 * reads the handler: in `() => ({ kind: 'a' })` the type of `kind` stays `'a'`.
 */
type DefinedHandler<D> = D extends unknown ? (ctx: DefinedContext<D>) => ResultOf<D> : never

/**
 * Defines a route: inputs and `ctx.user` are typed from the definition, and what the handler returns is checked against
 * `response`. Members of bricks are `unknown`.
 */
export function defineRoute<const D extends KnownKeys<D>>(
  definition: D,
  handler: DefinedHandler<D>,
): DefinedRoute {
  // The pipeline has validated the inputs against this same definition before it calls the handler.
  return { [DEFINED_ROUTE]: true, definition, handler }
}

/** The typed form of `defineRoute` for one application. */
export type RouteMaker<Members, Services> = <
  const D extends KnownKeys<D, RouteDefinition<PolicyNames<Services>, RuleNames<Services>>>,
>(
  definition: D,
  handler: D extends unknown ? (ctx: AppContext<D, Members, Services>) => ResultOf<D> : never,
) => DefinedRoute

/**
 * Returns a `defineRoute` whose `ctx` also has every member that the application's bricks add, and whose `auth` accepts
 * its policies only and whose `limit` its rules only: `export const route = routesFor<typeof app>()`. Import the app's type with `import type`, so that
 * there is no cycle.
 */
export function routesFor<A extends TypedApp>(): RouteMaker<MembersOf<A>, HandlerServices<A>> {
  return defineRoute as unknown as RouteMaker<MembersOf<A>, HandlerServices<A>>
}

/** True for a result of `defineRoute`, also from another copy of the package. */
export function isDefinedRoute(value: unknown): value is DefinedRoute {
  return typeof value === 'object' && value !== null && DEFINED_ROUTE in value
}
