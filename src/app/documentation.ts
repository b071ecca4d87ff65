import { randomBytes } from 'node:crypto'
import { buildAsyncDocument } from '../openapi/async-document.ts'
import { docsPage } from '../openapi/docs-page.ts'
import { buildDocument } from '../openapi/document.ts'
import { findReferenceScript, type ReferenceScript } from '../openapi/page/reference-script.ts'
import type { PipelineRuntime } from '../pipeline/step.ts'
import type { BrickEntry } from '../routing/brick-entry.ts'
import { ownerOf, type Route } from '../routing/route.ts'
import type { Dispatcher } from './serve/dispatcher.ts'
import type { OpenApiOptions } from './openapi-options.ts'

/** The OpenAPI document of an application. */
export type Documentation = ReturnType<typeof createDocumentation>

/** Paths of the document, its page and the script of the page. */
export interface DocumentationPaths {
  readonly document: string
  readonly page: string
  readonly script: string
  /** Undefined if the application does not serve the AsyncAPI document. */
  readonly asyncDocument: string | undefined
}

/** Settings of the documentation. */
export interface DocumentationSettings {
  readonly openapi: OpenApiOptions
  readonly paths: DocumentationPaths
  readonly entries: () => Promise<readonly BrickEntry[]>
}

/** Creates the documentation of the routes of a dispatcher. */
export function createDocumentation(
  dispatcher: Dispatcher,
  runtime: PipelineRuntime,
  { openapi, paths, entries }: DocumentationSettings,
) {
  let document: object | undefined
  let revision = -1
  let script: ReferenceScript | undefined
  const findScript = async (): Promise<ReferenceScript | undefined> =>
    (script ??= await findReferenceScript())
  return {
    /**
     * Returns the OpenAPI document. It is built on first use and again after the routes change.
     * @throws StartupError when two operations would have one id.
     */
    document() {
      if (document === undefined || revision !== dispatcher.revision) {
        ;({ revision } = dispatcher)
        document = buildDocument({
          ...documentOf(dispatcher.routes, runtime, openapi),
          problems: [...runtime.problems.keys()],
          ...(openapi.servers === undefined ? {} : { servers: openapi.servers }),
        })
      }
      return document
    },
    /** Returns the AsyncAPI document, or undefined if the application has no socket and no channel. */
    asyncDocument: async () =>
      buildAsyncDocument({
        ...documentOf(dispatcher.routes, runtime, openapi),
        entries: await entries(),
      }),
    /** Renders the page for one response. */
    async page() {
      const found = await findScript()
      const input = {
        title: openapi.title ?? 'API',
        path: paths.page,
        documentPath: paths.document,
        asyncDocumentPath: paths.asyncDocument,
        scriptPath: `${paths.script}?${found?.version ?? 'missing'}`,
        isProduction: runtime.environment === 'production',
      }
      return docsPage(input, randomBytes(16).toString('base64'))
    },
    /** Returns the script of the page, or undefined if a copy of the package lacks it. */
    script: findScript,
  }
}

/** The part of the input that both documents have. */
function documentOf(routes: readonly Route[], runtime: PipelineRuntime, openapi: OpenApiOptions) {
  return {
    routes,
    title: openapi.title ?? 'API',
    version: openapi.version ?? '0.0.0',
    ...(openapi.description === undefined ? {} : { description: openapi.description }),
    ...(runtime.securityScheme === undefined ? {} : { security: runtime.securityScheme }),
    // The application cannot change the schemas of a brick.
    warn: (message: string, route: Route) => {
      if (ownerOf(route) !== 'brick') runtime.logger.warn(message)
    },
  }
}
