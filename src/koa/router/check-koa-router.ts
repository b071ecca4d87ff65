import { StartupError } from '../../errors/startup-error.ts'
import { checkDefinition } from '../../routing/check-definition.ts'
import { checkOptions, type OptionChecks } from '../../support/check-options.ts'
import { describeValue } from '../../support/describe-value.ts'
import { showsLayers, type KoaRouter } from '../../compat/koa-router.ts'
import type { AuthRequirement } from '../../routing/route.ts'

/** Options of `fromKoaRouter` for all routes of a router. Each key is optional. */
export interface KoaRouterOptions {
  /** Prefix of every path, as for a nested router of @koa/router. */
  readonly prefix?: string
  readonly tags?: readonly string[]
  /** Guard of every route: `true`, a policy or policies. Without it, the guard of the parent router. */
  readonly auth?: AuthRequirement
  /** Leaves the routes out of the OpenAPI document. */
  readonly hidden?: boolean
  /**
   * Media types of bodies that Mortar reads and sets in `ctx.request.body`. By default none: the router's own body
   * parser reads the request.
   */
  readonly consumes?: readonly string[]
  /** Layers that cannot be routes: an error at the start (the default), or plain middleware without a guard. */
  readonly unsupported?: 'error' | 'middleware'
}

const OPTIONS: OptionChecks<KoaRouterOptions> = {
  of: 'fromKoaRouter()',
  code: 'MORTAR_KOA_ROUTER',
  keys: {
    prefix: 'string',
    tags: 'strings',
    auth: 'anything',
    hidden: 'boolean',
    consumes: 'strings',
    unsupported: 'string',
  },
}

/**
 * Checks the arguments of `fromKoaRouter`: a mistake in `auth` must not make the routes public. Returns the router; it
 * also accepts `router.routes()`.
 * @throws StartupError `MORTAR_USE`, `MORTAR_KOA_ROUTER`, or the code of the broken rule of route definitions.
 */
export function checkKoaRouter(given: unknown, options: KoaRouterOptions): KoaRouter {
  const router = routerIn(given)
  checkOptions(options, OPTIONS)
  checkValues(options)
  if ((router.opts as { routerPath?: unknown }).routerPath !== undefined)
    throw wrong(
      'was given a router with the option routerPath',
      'Remove routerPath: the path of the request is used.',
    )
  return router
}

function routerIn(given: unknown): KoaRouter {
  const router = typeof given === 'function' ? (given as { router?: unknown }).router : given
  if (isKoaRouter(router)) {
    if (showsLayers(router)) return router
    throw wrong(
      'was given a router of a version of @koa/router whose layers differ',
      'Install @koa/router 15',
    )
  }
  throw new StartupError(
    `fromKoaRouter was given ${describeValue(given)}, which is not a router of @koa/router.`,
    {
      code: 'MORTAR_USE',
      remedy: 'Pass the router itself: fromKoaRouter(router). Wrap other Koa middleware in fromKoa().',
    },
  )
}

function isKoaRouter(value: unknown): value is KoaRouter {
  const router = value as Partial<KoaRouter> | null | undefined
  return (
    typeof router === 'object' &&
    Array.isArray(router?.stack) &&
    typeof router.routes === 'function' &&
    typeof router.opts === 'object'
  )
}

function checkValues({ unsupported = 'error', ...definition }: KoaRouterOptions): void {
  if (unsupported !== 'error' && unsupported !== 'middleware')
    throw wrong('has an unknown value of `unsupported`', "Write 'error' or 'middleware'.")
  const [finding] = checkDefinition(definition, { method: 'POST', parameters: [] })
  if (finding)
    throw new StartupError(`The second argument of fromKoaRouter ${finding.found}.`, {
      code: finding.code,
      remedy: finding.remedy,
    })
}

function wrong(found: string, remedy: string): StartupError {
  return new StartupError(`fromKoaRouter ${found}.`, { code: 'MORTAR_KOA_ROUTER', remedy })
}
