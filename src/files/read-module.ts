import { isDefinedRoute, type DefinedRoute } from '../routing/define-route.ts'
import type { Handler, RouteDefinition, RouteUpgrade } from '../routing/route.ts'
import { isRouter } from '../routing/router.ts'
import { checkDefinition, type Endpoint, DEFINITION_KEYS } from '../routing/check-definition.ts'
import { checkDefinitionKeys, checkExportNames, type KeyReport } from '../routing/check-keys.ts'
import { describeValue, isClass, isPlainObject } from '../support/describe-value.ts'
import { isThenable } from '../support/thenable.ts'
import type { Finding } from '../routing/finding.ts'

/** The exports of a module, as `import()` gives them. */
export type ModuleExports = Readonly<Record<string, unknown>>

/** Result of reading a module. `value` is undefined exactly when there are findings. */
export interface ModuleReading<T> extends KeyReport {
  readonly value: T | undefined
}

/** Handler and definition of a route module. */
export type RouteModule = Pick<DefinedRoute, 'definition' | 'handler' | 'upgrade'>

/** Reads a route module in either form: separate exports, or a default export made by `defineRoute`. */
export function readRouteModule(module: ModuleExports, endpoint: Endpoint): ModuleReading<RouteModule> {
  const exports = exportsOf(module)
  const { default: main } = exports
  const names = checkExportNames(Object.keys(exports))
  const isDefined = isDefinedRoute(main)
  const upgrade = isDefined ? main.upgrade : undefined
  const definition: unknown = isDefined ? main.definition : separateDefinition(exports)
  const findings = [
    ...(isDefined ? definedFindings(main, exports) : handlerFindings(exports)),
    ...names.findings,
    ...(isPlainObject(definition) ? checkDefinition(definition, endpoint) : []),
    ...protocolFindings(upgrade, endpoint),
  ]
  const handler = isDefined ? main.handler : main
  return {
    // The checks above make these two casts safe.
    value:
      findings.length > 0
        ? undefined
        : {
            definition: definition as RouteDefinition,
            handler: handler as Handler,
            ...(upgrade !== undefined && { upgrade }),
          },
    findings,
    warnings: [...names.warnings, ...signatureWarnings(handler)],
  }
}

/** A name for connections of a protocol on an ordinary route would be an endpoint that nobody expects. */
function protocolFindings(upgrade: RouteUpgrade | undefined, { protocol }: Endpoint): Finding[] {
  if (protocol === undefined || upgrade?.protocol === protocol) return []
  return [
    {
      code: 'MORTAR_ROUTE_PROTOCOL',
      found: `has an ending for connections of ${protocol}, and its default export is not a route for them`,
      remedy: 'Export the result of the function that the brick of this protocol has for its routes.',
    },
  ]
}

/** Express and Fastify call a handler with (req, res), Koa with (ctx, next). */
function signatureWarnings(handler: unknown): string[] {
  if (typeof handler !== 'function' || isClass(handler) || handler.length < 2) return []
  return [
    `has a handler with ${handler.length} parameters, but a handler gets ctx alone: write (ctx) => … and return the response.`,
  ]
}

/**
 * CommonJS compiled from ES modules arrives as one object in `default`, and a loader may not detect all its names.
 * Reading the names there ensures that no `auth` is missed.
 */
export function exportsOf(module: ModuleExports): ModuleExports {
  const { default: main } = module
  return isPlainObject(main) && main['__esModule'] === true && 'default' in main ? main : module
}

function separateDefinition(exports: ModuleExports): Record<string, unknown> {
  return Object.fromEntries(DEFINITION_KEYS.filter((key) => key in exports).map((key) => [key, exports[key]]))
}

function handlerFindings(exports: ModuleExports): Finding[] {
  const { default: main } = exports
  if (isCallable(main)) return []
  if (!('default' in exports))
    return [
      {
        code: 'MORTAR_ROUTE_NO_DEFAULT',
        found: 'has no default export',
        remedy: noDefaultRemedy(exports),
      },
    ]
  return [
    {
      code: 'MORTAR_ROUTE_HANDLER',
      found: `has ${isRouter(main) ? 'a router' : describeValue(main)} as its default export, which is not a handler`,
      remedy: handlerRemedy(main),
    },
  ]
}

/** Other frameworks read the method from the name of an export. */
function noDefaultRemedy(exports: ModuleExports): string {
  const other = Object.keys(exports).find((name) => isCallable(exports[name]))
  if (other === undefined)
    return 'Write `export default (ctx) => …`, or make the file private with a leading "_".'
  return `Write \`export default\` in place of \`export const ${other} =\` or \`export function ${other}\`: the method is in the name of the file.`
}

function handlerRemedy(main: unknown): string {
  if (
    isClass(main) ||
    (isPlainObject(main) && isCallable(main.constructor) === false && main.constructor !== Object)
  )
    return 'Export a function (ctx) => …; a class can be a service of app.provide().'
  if (isRouter(main)) return 'Mount a router with app.use(router), outside the directory of routes.'
  if (isPlainObject(main) && !isThenable(main))
    return 'Export the handler itself, or what defineRoute(definition, handler) returns.'
  return 'Export the handler itself, not the result of calling it.'
}

function definedFindings({ definition, handler }: DefinedRoute, exports: ModuleExports): Finding[] {
  const separate = DEFINITION_KEYS.filter((key) => key in exports)
  const mixed: Finding[] = separate.map((key) => ({
    code: 'MORTAR_ROUTE_MIXED_FORMS',
    found: `exports \`${key}\` beside a route made by defineRoute, which would ignore it`,
    remedy: `Move \`${key}\` into the definition.`,
  }))
  if (!isPlainObject(definition))
    return [
      ...mixed,
      {
        code: 'MORTAR_ROUTE_DEFINITION',
        found: `gives defineRoute ${describeValue(definition)} for a definition`,
        remedy:
          'Write defineRoute(definition, handler); the definition of a route that declares nothing is {}.',
      },
    ]
  const keys = checkDefinitionKeys(Object.keys(definition))
  if (isCallable(handler)) return [...mixed, ...keys]
  const found = `gives defineRoute ${describeValue(handler)} for a handler`
  const remedy = 'Pass the handler itself, not the result of calling it.'
  return [...mixed, ...keys, { code: 'MORTAR_ROUTE_HANDLER', found, remedy }]
}

/** True for a function that can be a handler: neither a class nor a callable promise. */
export function isCallable(value: unknown): boolean {
  return typeof value === 'function' && !isClass(value) && !isThenable(value)
}
