import { asValue } from 'awilix/browser'
import { checkBrick, middlewareOf, routersOf } from '../../bricks/check-brick.ts'
import { refuseSharedCodes } from '../../bricks/check-codes.ts'
import { installBrick } from '../../bricks/install.ts'
import { orderBricks } from '../../bricks/order.ts'
import type { AnyBrick } from '../../bricks/brick.ts'
import type { NamedCheck } from '../../bricks/health-check.ts'
import type { BrickEntry } from '../../routing/brick-entry.ts'
import { optionalService } from '../../container/optional-service.ts'
import { openScope } from '../../container/request-scope.ts'
import type { CoreServices, Cradle } from '../../contracts/services.ts'
import type { Authenticator } from '../../contracts/authenticator.ts'
import { errorExplainer } from '../../bricks/explain-error.ts'
import type { Limiter } from '../../contracts/limiter.ts'
import { problemTable } from '../../errors/problem-table.ts'
import { checkPeers } from '../../peers/peer-errors.ts'
import type { PeerNeed } from '../../peers/peers.ts'
import type { PipelineRuntime } from '../../pipeline/step.ts'
import { loadStreamedResponses } from '../../pipeline/streamed-responses.ts'
import type { MiddlewareScope, Route } from '../../routing/route.ts'
import { scopesOfRouter, type AnyRouter } from '../../routing/router.ts'
import { checkRoutes } from '../../routing/check-routes.ts'
import type { AssemblyContext, Parts } from '../assembly-context.ts'
import { documentedScheme } from '../credential-rules.ts'
import type { Inspection } from '../app.ts'
import { protocolsOf } from '../serve/accept-upgrades.ts'
import { frameworkRoutes, refuseAtProbes, type FrameworkRoutes } from '../framework-routes.ts'
import { collectChecks } from './health/collect-checks.ts'

/** The result of assembling an application. */
export interface Assembly {
  /** In the order of their start. */
  readonly bricks: readonly AnyBrick[]
  /** The health checks of the bricks and of the application. */
  readonly checks: readonly NamedCheck[]
  /** The OpenAPI document and its page, if the application has them. */
  readonly documentation: FrameworkRoutes['documentation']
  /** Reads the slot `entries` of every brick. */
  readonly entries: () => Promise<readonly BrickEntry[]>
  /** Loads packages before the first request needs them. */
  readonly preload: () => Promise<unknown>
}

/**
 * Assembles an application without starting it: bricks in order, services, members, routes. It finds every fault in
 * them. Without `singletons`, it creates only the services that compiled routes need.
 */
export function assemble(
  parts: Parts,
  context: AssemblyContext,
  { singletons }: { readonly singletons: boolean },
): Assembly {
  const { container, contextClass, dispatcher, core, options } = context
  for (const [name, registration] of parts.provided) container.register(name, registration, 'app.provide')
  for (const brick of parts.bricks) checkBrick(brick)
  checkPeers(parts.bricks.flatMap(needOf))
  const bricks = orderBricks(parts.bricks, new Set(container.names))
  refuseSharedCodes(bricks)
  const checks = collectChecks(bricks, parts.checks, options.health?.critical ?? new Set())
  const problems = problemTable(bricks)
  for (const brick of bricks) installBrick(brick, container, contextClass)
  for (const [name, registration] of parts.overrides) container.override(name, registration)
  if (singletons) container.resolveSingletons()
  const brickRouters = bricks.map((brick) => ({ brick, routers: routersIn(brick, core) }))
  const routers = [...brickRouters.flatMap((each) => each.routers), ...parts.routers]
  const routes = [
    ...brickRouters.flatMap(({ brick, routers: own }) => brickRoutes(brick, own)),
    ...parts.routers.flatMap((router) => router.routes()),
  ]
  const scopes = [
    ...bricks.flatMap((brick) => brickScopes(brick, core)),
    ...parts.scopes,
    ...routers.flatMap((router) => scopesOfRouter(router)),
  ]
  checkRoutes(routes)
  dispatcher.addFirst({ scopes, routes })
  const explainError = errorExplainer(bricks)
  const upgrades = protocolsOf(bricks)
  const runtime = pipelineRuntime(context, { problems, explainError, upgrades })
  const entries = async (): Promise<readonly BrickEntry[]> =>
    (await Promise.all(bricks.map(async (brick) => brick.entries?.(container.cradle as Cradle) ?? []))).flat()
  const own = frameworkRoutes(dispatcher, runtime, options, entries)
  dispatcher.add({ scopes: [], routes: own.routes })
  refuseAtProbes(dispatcher.routes, options)
  dispatcher.compile(runtime)
  const preload = (): Promise<unknown> => {
    loadStreamedResponses()
    return Promise.all([...runtime.preloads].map((load) => load()))
  }
  return { bricks, checks, documentation: own.documentation, entries, preload }
}

/** Describes an application that does not start. Its scopes have the services of a request, without `ctx`. */
export async function inspectionOf(
  { bricks, documentation, entries }: Assembly,
  { options, dispatcher, container }: AssemblyContext,
): Promise<Inspection> {
  const none = { document: () => ({}), asyncDocument: () => Promise.resolve(undefined) }
  const { document, asyncDocument } = (await documentation?.()) ?? none
  const { routes } = dispatcher
  const { cradle: services, names: serviceNames, resolveSingletons } = container
  return {
    bricks,
    document,
    asyncDocument,
    entries,
    options,
    routes,
    services,
    serviceNames,
    resolveSingletons,
    openScope(user) {
      const own = { user: asValue(user), requestId: asValue('console') }
      const scope = openScope(container, own, (_name, instance) => instance)
      return { services: scope.cradle, dispose: () => scope.dispose() }
    },
  }
}

function needOf({ name, peers }: AnyBrick): PeerNeed[] {
  return [peers ?? []].flat().map((each) => ({ of: `the brick '${name}'`, peers: each }))
}

function routersIn(brick: AnyBrick, core: CoreServices): readonly AnyRouter[] {
  return routersOf(brick, typeof brick.routes === 'function' ? brick.routes(core) : (brick.routes ?? []))
}

/** Adds the name of the brick to its routes as their origin. */
function brickRoutes(brick: AnyBrick, routers: readonly AnyRouter[]): Route[] {
  const labels = new Map(Object.entries(brick.pages ?? {}).map(([label, path]) => [path, label]))
  return routers.flatMap((router) =>
    router.routes().map((route) => {
      const page = route.method === 'GET' ? labels.get(route.path) : undefined
      return { ...route, origin: `brick '${brick.name}'`, ...(page !== undefined && { page }) }
    }),
  )
}

function brickScopes(brick: AnyBrick, core: CoreServices): MiddlewareScope[] {
  const given = typeof brick.middleware === 'function' ? brick.middleware(core) : (brick.middleware ?? [])
  return middlewareOf(brick, given).map((run) => ({
    prefix: '/',
    middleware: { run, origin: `${run.name || 'middleware'} of brick '${brick.name}'` },
  }))
}

function pipelineRuntime(
  { container, options, unavailable }: AssemblyContext,
  ofBricks: Pick<PipelineRuntime, 'problems' | 'explainError' | 'upgrades'>,
): PipelineRuntime {
  const authenticator = optionalService<Authenticator>(container.cradle, 'authenticator')
  return {
    environment: options.environment,
    ...ofBricks,
    logger: options.reporter,
    unavailable,
    authenticator,
    limiter: optionalService<Limiter>(container.cradle, 'limiter'),
    securityScheme: documentedScheme(options, authenticator),
    trustedOrigins: [...options.trustedOrigins, ...(authenticator?.trustedOrigins ?? [])],
    bodyLimit: options.bodyLimit,
    handlerTimeout: options.handlerTimeout,
    multipart: options.multipart,
    maxIssues: options.maxIssues,
    preloads: new Set(),
  }
}
