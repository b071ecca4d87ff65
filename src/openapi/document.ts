import type { SecurityScheme } from '../contracts/authenticator.ts'
import { withSharedNames } from './parameter-names.ts'
import { openApiPath } from '../routing/path-pattern.ts'
import { describeRoute, METHODS, type Route } from '../routing/route.ts'
import { withoutEmpty, type JsonObject } from './json.ts'
import { operationIds } from './operation-id.ts'
import { parametersOf } from './parameters.ts'
import { problemSchemas } from './problem-schemas.ts'
import { requestBodyOf } from './request-body.ts'
import { responsesOf } from './responses.ts'
import { createSchemaReader, type SchemaReader } from './schema-reader.ts'
import { BEARER, isGuarded, policiesOf, policySentence } from './security.ts'

/** Input of the document. */
export interface DocumentInput {
  readonly routes: readonly Route[]
  readonly title: string
  readonly version: string
  readonly description?: string
  readonly servers?: readonly { readonly url: string; readonly description?: string }[]
  /** The authenticator's scheme. Defaults to bearer tokens if a route is guarded. */
  readonly security?: SecurityScheme
  /** Problem codes of the core and of the bricks. */
  readonly problems?: readonly string[]
  /** Receives a message for each route that the document cannot describe: route, origin and reason. */
  readonly warn?: (message: string, route: Route) => void
}

/**
 * The OpenAPI 3.1.1 document of the routes, as plain JSON. Hidden routes and `/_framework/*` are left out. The order of
 * the routes does not matter: paths, methods and tags are sorted.
 * @throws StartupError `MORTAR_OPENAPI_OPERATION_ID` when two operations have one id.
 */
export function buildDocument(input: DocumentInput): object {
  const warn = input.warn ?? (() => undefined)
  const published = withSharedNames(input.routes.filter(isPublished))
  const routes = withoutAmbiguous(published, warn).toSorted(byPathAndMethod)
  const security = input.security ?? BEARER
  const reader = createSchemaReader(warn)
  const context = { ids: operationIds(routes), reader, security }
  const { parts, schemas } = reader.finish(pathsOf(routes, context))
  return withoutEmpty({
    openapi: '3.1.1',
    info: withoutEmpty({ title: input.title, description: input.description, version: input.version }),
    servers: input.servers,
    tags: tagsOf(routes),
    paths: parts,
    components: withoutEmpty({
      schemas: { ...schemas, ...problemSchemas(input.problems ?? []) },
      securitySchemes:
        input.security || routes.some(isGuarded) ? { [security.name]: security.scheme } : undefined,
    }),
  })
}

function isPublished({ path, definition }: Route): boolean {
  return definition.hidden !== true && path !== '/_framework' && !path.startsWith('/_framework/')
}

/**
 * OpenAPI has no catch-all, and two paths that differ only in a parameter's name are the same (§4.8.8.1). It can
 * describe only one of `/files/:name` and `/files/*path`.
 */
function withoutAmbiguous(routes: readonly Route[], warn: Required<DocumentInput>['warn']): Route[] {
  const shapes = new Set(routes.filter((route) => !route.path.includes('*')).map(shapeOf))
  return routes.filter((route) => {
    if (!route.path.includes('*') || !shapes.has(shapeOf(route))) return true
    warn(
      `OpenAPI: ${describeRoute(route)} is omitted: another path has a parameter at the position of its catch-all.`,
      route,
    )
    return false
  })
}

function shapeOf(route: Route): string {
  return openApiPath(route.path).replaceAll(/\{[^}]*\}/g, '{}')
}

/** Compares by code units, never by locale, so that the document is the same on every machine. */
function byPathAndMethod(a: Route, b: Route): number {
  if (a.path !== b.path) return a.path < b.path ? -1 : 1
  return METHODS.indexOf(a.method) - METHODS.indexOf(b.method)
}

function tagsOf(routes: readonly Route[]): JsonObject[] {
  const names = new Set(routes.flatMap((route) => route.definition.tags ?? []))
  return [...names].toSorted().map((name) => ({ name }))
}

function pathsOf(routes: readonly Route[], context: OperationContext): JsonObject {
  const paths: Record<string, JsonObject> = {}
  for (const route of routes) {
    const item = (paths[openApiPath(route.path)] ??= {})
    item[route.method.toLowerCase()] = operationOf(route, context)
  }
  return paths
}

/** Input that all operations of one document share. */
interface OperationContext {
  readonly ids: ReadonlyMap<Route, string>
  readonly reader: SchemaReader
  readonly security: SecurityScheme
}

/** Returns the OpenAPI operation object of a route. Policies appear in `x-policies` and in the description. */
function operationOf(route: Route, { ids, reader, security }: OperationContext): JsonObject {
  const { summary, description, tags } = route.definition
  const policies = policiesOf(route)
  return withoutEmpty({
    operationId: ids.get(route),
    tags: [...new Set(tags)],
    summary,
    description: [description, policySentence(policies)].filter(Boolean).join('\n\n') || undefined,
    parameters: parametersOf(route, reader),
    requestBody: requestBodyOf(route, reader),
    responses: responsesOf(route, reader),
    security: isGuarded(route) ? [{ [security.name]: [] }] : undefined,
    'x-policies': policies,
  })
}
