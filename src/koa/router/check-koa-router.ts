import { StartupError } from '../../errors/startup-error.ts'
import { checkDefinition } from '../../routing/check-definition.ts'
import { looksLikeGuard } from '../../support/guard-names.ts'
import { describeValue } from '../../support/describe-value.ts'
import { showsLayers, type KoaRouter } from '../../compat/koa-router.ts'
import { nearest } from '../../support/nearest.ts'

const KEYS = ['prefix', 'tags', 'auth', 'hidden', 'consumes', 'unsupported'] as const

/**
 * Checks the arguments of `fromKoaRouter`: a mistake in `auth` must not make the routes public. Returns the router; it
 * also accepts `router.routes()`.
 * @throws StartupError `MORTAR_USE`, `MORTAR_KOA_ROUTER`, or the code of the broken rule of route definitions.
 */
export function checkKoaRouter(given: unknown, options: unknown): KoaRouter {
  const router = routerIn(given)
  if (typeof options !== 'object' || options === null || Array.isArray(options))
    throw wrong(`has ${describeValue(options)} as its options`, `The options are ${KEYS.join(', ')}.`)
  checkOptions(options as Record<string, unknown>)
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

function checkOptions(options: Readonly<Record<string, unknown>>): void {
  const { prefix, unsupported, ...definition } = options
  for (const key of Object.keys(options)) if (!KEYS.some((known) => known === key)) throw unknownKey(key)
  if ('prefix' in options && typeof prefix !== 'string')
    throw wrong(`has ${describeValue(prefix)} as \`prefix\``, "Write a path such as '/v1'.")
  if ('unsupported' in options && unsupported !== 'error' && unsupported !== 'middleware')
    throw wrong(`has an unknown value of \`unsupported\``, "Write 'error' or 'middleware'.")
  const [finding] = checkDefinition(definition, { method: 'POST', parameters: [] })
  if (finding)
    throw new StartupError(`The second argument of fromKoaRouter ${finding.found}.`, {
      code: finding.code,
      remedy: finding.remedy,
    })
}

function unknownKey(key: string): StartupError {
  const near = looksLikeGuard(key) ? 'auth' : nearest(key, KEYS)
  return wrong(
    `has the unknown option '${key}'`,
    near === undefined ? `The options are ${KEYS.join(', ')}.` : `Did you mean '${near}'?`,
  )
}

function wrong(found: string, remedy: string): StartupError {
  return new StartupError(`fromKoaRouter ${found}.`, { code: 'MORTAR_KOA_ROUTER', remedy })
}
