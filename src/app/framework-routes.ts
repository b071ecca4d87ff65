import { ownerOf, type Route, type RouteDefinition, type Handler } from '../routing/route.ts'
import { NotFound } from '../errors/http-error.ts'
import type { PipelineRuntime } from '../pipeline/step.ts'
import { wrongOption } from '../support/check-options.ts'
import { once } from '../support/once.ts'
import type { Dispatcher } from './serve/dispatcher.ts'
import type { Documentation, DocumentationSettings } from './documentation.ts'
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
  entries: DocumentationSettings['entries'],
): FrameworkRoutes {
  const { openapi } = options
  if (openapi === false) return { routes: [], documentation: undefined }
  const page = openapi.docs || '/docs'
  const script = `${page.replace(/\/$/, '')}/scalar.js`
  const asyncDocument = dispatcher.routes.some(({ upgrade }) => upgrade) ? '/asyncapi.json' : undefined
  const paths = { document: openapi.path ?? '/openapi.json', page, script, asyncDocument }
  const documentation = once(async () =>
    (await loadCode()).createDocumentation(dispatcher, runtime, { openapi, paths, entries }),
  )
  const routes = [
    get(paths.document, documentHandler(documentation), 'OpenAPI'),
    ...(asyncDocument ? [get(asyncDocument, asyncDocumentHandler(documentation), 'AsyncAPI')] : []),
    ...(openapi.docs === false
      ? []
      : [get(page, pageHandler(documentation), 'Docs'), get(paths.script, scriptHandler(documentation))]),
  ]
  const taken = new Set(dispatcher.routes.filter(({ method }) => method === 'GET').map(({ path }) => path))
  return { routes: routes.filter(({ path }) => !taken.has(path)), documentation }
}

/**
 * Refuses pages of the framework and routes of bricks that would replace the response to a probe. An application may
 * replace it.
 * @throws StartupError `MORTAR_OPTION` with both names.
 */
export function refuseAtProbes(routes: readonly Route[], { health }: ResolvedOptions): void {
  for (const name of ['live', 'ready'] as const) {
    const taken = routes.find((route) => route.path === health?.[name] && ownerOf(route) !== undefined)
    if (taken !== undefined)
      throw wrongOption(`health.${name}`, `is the path of ${taken.origin}`, 'Give them different paths.')
  }
}

/** For all applications of a process, such as those of tests: with tsx each `import()` costs a millisecond. */
const loadCode = once(() => import('./documentation.ts'))

type LoadDocumentation = () => Promise<Documentation>

function documentHandler(documentation: LoadDocumentation): Handler {
  return async (ctx) => {
    ctx.set('Cache-Control', 'no-cache')
    return (await documentation()).document()
  }
}

function asyncDocumentHandler(documentation: LoadDocumentation): Handler {
  return async (ctx) => {
    ctx.set('Cache-Control', 'no-cache')
    const document = await (await documentation()).asyncDocument()
    if (document === undefined) throw new NotFound('The application has no socket and no channel.')
    return document
  }
}

/** Each response has a nonce of its own, so a cache must not serve it again. */
function pageHandler(documentation: LoadDocumentation): Handler {
  return async (ctx) => {
    const { html, contentSecurityPolicy } = await (await documentation()).page()
    ctx.type = 'text/html; charset=utf-8'
    ctx.set('Content-Security-Policy', contentSecurityPolicy)
    ctx.set('Cache-Control', 'no-store')
    return html
  }
}

const ACCEPTS_BROTLI = /(?:^|[,\s])br(?!\s*;\s*q=0(?:\.0*)?\s*(?:,|$))(?=$|[,;\s])/i

/** The page names the script with its version, so a browser never asks for that address again. */
function scriptHandler(documentation: LoadDocumentation): Handler {
  return async (ctx) => {
    const script = await (await documentation()).script()
    if (script === undefined) throw new NotFound('This copy of the package has no script for the page.')
    const etag = `"${script.version}"`
    ctx.set('ETag', etag)
    ctx.set('Cache-Control', 'public, max-age=31536000, immutable')
    ctx.append('Vary', 'Accept-Encoding')
    if (ctx.get('if-none-match') === etag) {
      ctx.status = 304
      return undefined
    }
    const isCompressed = ACCEPTS_BROTLI.test(ctx.get('accept-encoding') ?? '')
    ctx.type = 'text/javascript; charset=utf-8'
    if (isCompressed) ctx.set('Content-Encoding', 'br')
    return script.open(isCompressed)
  }
}

/** The option that sets the path of a page, for messages. */
const SOURCES = { OpenAPI: 'openapi.path', AsyncAPI: 'AsyncAPI document', Docs: 'openapi.docs' } as const

/** Without a page it is the route of the script, whose path begins with that of the page. */
function get(path: string, handler: Handler, page?: keyof typeof SOURCES): Route {
  return {
    method: 'GET',
    path,
    definition: HIDDEN,
    handler,
    middleware: [],
    origin: `the framework (${SOURCES[page ?? 'Docs']})`,
    ...(page !== undefined && { page }),
  }
}
