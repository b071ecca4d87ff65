import type { Route, RouteDefinition, Handler } from '../routing/route.ts'
import type { PipelineRuntime } from '../pipeline/runtime.ts'
import { buildDocument } from '../openapi/document.ts'
import { docsPage } from '../openapi/docs-page.ts'
import type { Dispatcher } from './dispatcher.ts'
import type { OpenApiOptions, ResolvedOptions } from './options.ts'

const HIDDEN: RouteDefinition = { hidden: true }

/** The framework's own routes, and the document that they serve. */
export interface FrameworkRoutes {
  readonly routes: readonly Route[]
  /** @throws StartupError when two operations would have one id. */
  document(): object
}

/** The document and its page, unless the application turned them off or has a route of its own in their place. */
export function frameworkRoutes(
  dispatcher: Dispatcher,
  runtime: PipelineRuntime,
  options: ResolvedOptions,
): FrameworkRoutes {
  const { openapi } = options
  if (openapi === false) return { routes: [], document: () => ({}) }
  const documentPath = openapi.path ?? '/openapi.json'
  const documentOf = documentOnce(dispatcher, runtime, openapi)
  const page = docsPage({ title: openapi.title ?? 'API', documentUrl: documentPath })
  const routes = [
    get(documentPath, (ctx) => {
      ctx.set('Cache-Control', 'no-cache')
      return documentOf()
    }),
    get(openapi.docs === false ? undefined : (openapi.docs ?? '/docs'), (ctx) => {
      ctx.type = 'text/html; charset=utf-8'
      ctx.set('Content-Security-Policy', page.contentSecurityPolicy)
      return page.html
    }),
  ].flat()
  const taken = new Set(dispatcher.routes.filter(({ method }) => method === 'GET').map(({ path }) => path))
  return { routes: routes.filter(({ path }) => !taken.has(path)), document: documentOf }
}

function get(path: string | undefined, handler: Handler): Route[] {
  if (path === undefined) return []
  return [{ method: 'GET', path, definition: HIDDEN, handler, middleware: [], origin: 'the framework' }]
}

/** Built when first asked for, and again after a route was added late. */
function documentOnce(
  dispatcher: Dispatcher,
  runtime: PipelineRuntime,
  openapi: OpenApiOptions,
): () => object {
  let document: object | undefined
  let count = -1
  return () => {
    const { routes } = dispatcher
    if (document === undefined || count !== routes.length) {
      count = routes.length
      document = buildOpenApi(routes, runtime, openapi)
    }
    return document
  }
}

/** The OpenAPI document of these routes. */
export function buildOpenApi(
  routes: readonly Route[],
  runtime: PipelineRuntime,
  openapi: OpenApiOptions,
): object {
  return buildDocument({
    routes,
    title: openapi.title ?? 'API',
    version: openapi.version ?? '0.0.0',
    ...(openapi.description === undefined ? {} : { description: openapi.description }),
    ...(openapi.servers === undefined ? {} : { servers: openapi.servers }),
    ...(runtime.authenticator === undefined ? {} : { security: runtime.authenticator.securityScheme }),
    // What a brick leaves out of its own schemas is nothing that the application could mend.
    warn: (message, route) => runtime.logger[route.origin.startsWith('brick ') ? 'debug' : 'warn'](message),
  })
}
