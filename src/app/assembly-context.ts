import type { AnyBrick } from '../bricks/brick.ts'
import type { NamedCheck } from '../bricks/health-check.ts'
import { createServiceContainer, servicesIn } from '../container/container.ts'
import { createDisposal } from '../container/disposal.ts'
import type { AnyRegistration } from '../container/registration.ts'
import type { CoreServices } from '../contracts/services.ts'
import { createContextClass } from '../context/context-class.ts'
import { createGauges } from '../contracts/gauges.ts'
import { createUnavailable } from '../pipeline/unavailable.ts'
import { createOutages } from './log/outages.ts'
import { checkRoutes } from '../routing/check-routes.ts'
import type { RouteBatch } from '../routing/route-sink.ts'
import type { MiddlewareScope } from '../routing/route.ts'
import { type AnyRouter, scopesOfRouter } from '../routing/router.ts'
import { applicationVersion } from '../support/env/environment.ts'
import { createDispatcher } from './serve/dispatcher.ts'
import { createEventBus } from './event-bus.ts'
import { createMaintenance } from './life/maintenance.ts'
import { providedTwice } from './misuse.ts'
import type { ResolvedOptions } from './options.ts'
import { droppedLines } from './log/standard-output.ts'

/** The targets that the parts are added to. */
export type AssemblyContext = ReturnType<typeof createAssemblyContext>

/**
 * Creates the empty targets of an application.
 * @param refuseLate throws if the application has started; gets the words for what was added.
 */
export function createAssemblyContext(options: ResolvedOptions, refuseLate: (what: string) => void) {
  const { environment, logger, clock, appUrl, trustedOrigins, reporter } = options
  const events = createEventBus(reporter)
  const gauges = createGauges()
  gauges.add('mortar_log_lines_dropped_total', {
    help: 'Lines of the log that standard output did not take.',
    isCounter: true,
    read: droppedLines,
  })
  gauges.add('mortar_build_info', {
    help: '1, with the version of the application as its label.',
    label: 'version',
    combine: 'max',
    read: buildInfo,
  })
  const outages = createOutages(reporter)
  const own = { logger, events, gauges, outages }
  const core: CoreServices = { ...own, environment, clock, appUrl, trustedOrigins }
  const disposeAll = createDisposal(reporter, options.shutdownTimeout)
  const dispatcher = createDispatcher()
  return {
    options,
    core,
    events,
    container: createServiceContainer(core, { disposeAll, refuseLate }),
    contextClass: createContextClass({ environment }),
    dispatcher,
    unavailable: createUnavailable(outages, core.gauges),
    outages,
    maintenance: createMaintenance(dispatcher, reporter),
  }
}

function buildInfo(): ReadonlyMap<string, number> | undefined {
  const version = applicationVersion()
  return version === undefined ? undefined : new Map([[version, 1]])
}

/** The parts that are registered on an application before it boots. */
export interface Parts {
  readonly bricks: AnyBrick[]
  readonly routers: AnyRouter[]
  readonly scopes: MiddlewareScope[]
  readonly provided: Map<string, AnyRegistration>
  readonly overrides: Map<string, AnyRegistration>
  readonly checks: NamedCheck[]
}

/** Services by name. */
export type GivenServices = Readonly<Record<string, AnyRegistration>>

export function createParts(): Parts {
  return {
    bricks: [],
    routers: [],
    scopes: [],
    provided: new Map(),
    overrides: new Map(),
    checks: [],
  }
}

/** @throws StartupError `MORTAR_SERVICE_SHAPE` for a symbol in place of a name. */
export function overrideServices({ overrides }: Parts, registrations: GivenServices): void {
  for (const [name, registration] of servicesIn(registrations, 'app.override'))
    overrides.set(name, registration)
}

/** @throws StartupError `MORTAR_SERVICE_DUPLICATE` for a name that was provided before. */
export function provideServices({ provided }: Parts, registrations: GivenServices): void {
  for (const [name, registration] of servicesIn(registrations, 'app.provide')) {
    if (provided.has(name)) throw providedTwice(name)
    provided.set(name, registration)
  }
}

/** Returns the routes and scopes of a router that is mounted late. @throws StartupError as `checkRoutes` does. */
export function checkedBatch(router: AnyRouter): RouteBatch {
  const routes = router.routes()
  checkRoutes(routes)
  return { routes, scopes: scopesOfRouter(router) }
}
