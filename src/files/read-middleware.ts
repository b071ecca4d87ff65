import type { Middleware } from '../routing/route.ts'
import { looksLikeGuard } from '../support/guard-names.ts'
import { describeValue } from '../support/describe-value.ts'
import type { Finding } from '../routing/finding.ts'
import { exportsOf, isCallable, type ModuleExports, type ModuleReading } from './read-module.ts'
import { DEFINITION_KEYS } from '../routing/check-definition.ts'

/** Reads a `_middleware` module: its default export wraps the routes of the folder. */
export function readMiddlewareModule(module: ModuleExports): ModuleReading<Middleware> {
  const exports = exportsOf(module)
  const { default: main } = exports
  const names = Object.keys(exports).filter((name) => name !== 'default')
  const findings = [
    ...(isCallable(main) ? [] : [middlewareFinding(exports)]),
    ...names.filter((name) => name === 'auth' || looksLikeGuard(name)).map(middlewareGuardFinding),
  ]
  return {
    value: findings.length > 0 ? undefined : (main as Middleware),
    findings,
    warnings: [
      ...names
        .filter((name) => name !== 'auth' && isKey(name))
        .map((name) => `exports "${name}", which has no meaning in middleware: declare it in each route.`),
      ...signatureWarnings(main),
    ],
  }
}

/** Express calls middleware with (req, res, next). */
function signatureWarnings(middleware: unknown): string[] {
  if (typeof middleware !== 'function' || middleware.length < 3) return []
  return [
    `has middleware with ${middleware.length} parameters, but middleware gets (ctx, next): Express middleware (req, res, next) does not run here.`,
  ]
}

function middlewareFinding(exports: ModuleExports): Finding {
  return {
    code: 'MORTAR_ROUTE_MIDDLEWARE',
    found:
      'default' in exports
        ? `has ${describeValue(exports['default'])} as its default export, which is not middleware`
        : 'has no default export',
    remedy: 'Write `export default async (ctx, next) => …`; Koa middleware goes through fromKoa(middleware).',
  }
}

function middlewareGuardFinding(name: string): Finding {
  return {
    code: 'MORTAR_ROUTE_MIDDLEWARE_KEY',
    found: `exports "${name}", which guards nothing in middleware`,
    remedy: 'Declare `auth` in each route of the folder, or throw from the middleware when ctx.user is null.',
  }
}

function isKey(name: string): boolean {
  return (DEFINITION_KEYS as readonly string[]).includes(name)
}
