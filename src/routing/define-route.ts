import type { CoreServices } from '../container/registration.ts'
import type { AppContext, DefinedContext } from '../context/context.ts'
import type { Handler, RouteDefinition } from './route.ts'

const DEFINED_ROUTE = Symbol.for('mortar.defined-route')

/** The result of `defineRoute` and `routesFor`: the default export of a route module. */
export interface DefinedRoute {
  readonly [DEFINED_ROUTE]: true
  readonly definition: RouteDefinition
  readonly handler: Handler
}

/** Carries the types of an application's ctx members and services; no value has this key. */
export declare const TYPES: unique symbol

/** Anything that carries the types of an application, such as the result of `createApp().use(…)`. */
export interface TypedApp<Members = unknown, Services = unknown> {
  readonly [TYPES]?: { readonly members: Members; readonly services: Services }
}

export type MembersOf<A> = A extends TypedApp<infer Members, unknown> ? Members : unknown
export type ServicesOf<A> = A extends TypedApp<unknown, infer Services> ? Services : unknown

/** The services of `ctx.services` in a handler of the application: its own and the core's. */
export type HandlerServices<A> = ServicesOf<A> & Omit<CoreServices, keyof ServicesOf<A>>

/** Refuses keys that a definition does not have: `querry` would otherwise be silently ignored. */
export type OnlyKnownKeys<D> = { readonly [Key in Exclude<keyof D, keyof RouteDefinition>]: never }

/** Defines a route: inputs and `ctx.user` are typed from the definition; members of bricks are `unknown`. */
export function defineRoute<const D extends RouteDefinition>(
  definition: D & OnlyKnownKeys<D>,
  handler: (ctx: DefinedContext<D>) => unknown,
): DefinedRoute {
  // The pipeline has validated the inputs against this same definition before it calls the handler.
  return { [DEFINED_ROUTE]: true, definition, handler: handler as unknown as Handler }
}

/** The typed form of `defineRoute` for one application. */
export type RouteMaker<Members, Services> = <const D extends RouteDefinition>(
  definition: D & OnlyKnownKeys<D>,
  handler: (ctx: AppContext<D, Members, Services>) => unknown,
) => DefinedRoute

/**
 * Returns a `defineRoute` whose `ctx` also has every member that the application's bricks add:
 * `export const route = routesFor<typeof app>()`. Import the app's type with `import type`, so that there is no cycle.
 */
export function routesFor<A extends TypedApp>(): RouteMaker<MembersOf<A>, HandlerServices<A>> {
  return defineRoute as unknown as RouteMaker<MembersOf<A>, HandlerServices<A>>
}

/** True for a result of `defineRoute`, also from another copy of the package. */
export function isDefinedRoute(value: unknown): value is DefinedRoute {
  return typeof value === 'object' && value !== null && DEFINED_ROUTE in value
}
