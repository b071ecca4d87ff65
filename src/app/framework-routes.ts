import type { Route, RouteDefinition, Handler } from '../routing/route.ts'
import type { PipelineRuntime } from '../pipeline/step.ts'
import type { Dispatcher } from './dispatcher.ts'
import type { Documentation } from './documentation.ts'
import type { OpenApiOptions } from './openapi-options.ts'
import type { ResolvedOptions } from './options.ts'

const HIDDEN: RouteDefinition = { hidden: true }

/** The framework's own routes and the documentation that they serve. */
export interface FrameworkRoutes {
  readonly routes: readonly Route[]
  /** Loads the code of the documentation on first use: in production few processes ever serve it. */
  readonly documentation: (() => Promise<Documentation>) | undefined
}

/** Returns the document and its page, unless the application disabled them or has its own route at their path. */
export function frameworkRoutes(
  dispatcher: Dispatcher,
  runtime: PipelineRuntime,
  options: ResolvedOptions,
): FrameworkRoutes {
  const { openapi } = options
  if (openapi === false) return { routes: [], documentation: undefined }
  const documentation = documentationOnce(dispatcher, runtime, openapi)
  const routes = [
    get('OpenAPI', documentPathOf(openapi), async (ctx) => {
      ctx.set('Cache-Control', 'no-cache')
      return (await documentation()).document()
    }),
    get('Docs', openapi.docs === false ? undefined : (openapi.docs ?? '/docs'), async (ctx) => {
      const { page } = await documentation()
      ctx.type = 'text/html; charset=utf-8'
      ctx.set('Content-Security-Policy', page.contentSecurityPolicy)
      return page.html
    }),
  ].flat()
  const taken = new Set(dispatcher.routes.filter(({ method }) => method === 'GET').map(({ path }) => path))
  return { routes: routes.filter(({ path }) => !taken.has(path)), documentation }
}

function documentationOnce(
  dispatcher: Dispatcher,
  runtime: PipelineRuntime,
  openapi: OpenApiOptions,
): () => Promise<Documentation> {
  let loading: Promise<Documentation> | undefined
  return () =>
    (loading ??= import('./documentation.ts').then(({ createDocumentation }) =>
      createDocumentation(dispatcher, runtime, { ...openapi, path: documentPathOf(openapi) }),
    ))
}

function documentPathOf({ path = '/openapi.json' }: OpenApiOptions): string {
  return path
}

function get(page: string, path: string | undefined, handler: Handler): Route[] {
  if (path === undefined) return []
  return [{ method: 'GET', path, definition: HIDDEN, handler, middleware: [], origin: 'the framework', page }]
}
