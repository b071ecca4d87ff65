import type { AppContext, DefinedContext } from '../context/context.ts'
import type { PolicyNames } from '../contracts/authenticator.ts'
import type { RuleNames } from '../contracts/limiter.ts'
import type { ResultOf } from '../schema/response-body.ts'
import type { DefinedRoute, KnownKeys } from './define-route.ts'
import type { PathParams } from './path-params.ts'
import type { RouteDefinition } from './route.ts'

/** The handler of a route of a router; see `DefinedHandler`. */
type RoutedHandler<D, Guarded, Params> = D extends unknown
  ? (ctx: DefinedContext<D, Guarded, Params>) => ResultOf<D>
  : never

/** Adds a route: `(path, handler)`, `(path, definition, handler)` or `(path, route)`. `Prefix` is that of the router. */
export interface AddRoute<R, Guarded = false, Prefix extends string = string> {
  (path: string, route: DefinedRoute): R
  <const Path extends string>(
    path: Path,
    handler: (ctx: DefinedContext<{}, Guarded, PathParams<`${Prefix}${Path}`>>) => unknown,
  ): R
  <const Path extends string, const D extends KnownKeys<D>>(
    path: Path,
    definition: D,
    handler: RoutedHandler<D, Guarded, PathParams<`${Prefix}${Path}`>>,
  ): R
}

type AppHandler<D, Members, Services, Guarded, Params> = D extends unknown
  ? (ctx: AppContext<D, Members, Services, Guarded, Params>) => ResultOf<D>
  : never

/** Like `AddRoute`, with the ctx members and services of one application. */
export interface AddAppRoute<R, Members, Services, Guarded = false, Prefix extends string = string> {
  (path: string, route: DefinedRoute): R
  <const Path extends string>(
    path: Path,
    handler: (ctx: AppContext<{}, Members, Services, Guarded, PathParams<`${Prefix}${Path}`>>) => unknown,
  ): R
  <
    const Path extends string,
    const D extends KnownKeys<D, RouteDefinition<PolicyNames<Services>, RuleNames<Services>>>,
  >(
    path: Path,
    definition: D,
    handler: AppHandler<D, Members, Services, Guarded, PathParams<`${Prefix}${Path}`>>,
  ): R
}
