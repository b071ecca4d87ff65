import { docsPage, type DocsPage } from '../openapi/docs-page.ts'
import { buildDocument } from '../openapi/document.ts'
import type { PipelineRuntime } from '../pipeline/step.ts'
import type { Route } from '../routing/route.ts'
import type { Dispatcher } from './dispatcher.ts'
import type { OpenApiOptions } from './openapi-options.ts'

/** The OpenAPI document of an application. */
export interface Documentation {
  /**
   * Returns the OpenAPI document. It is built on first use and again after the routes change.
   * @throws StartupError when two operations would have one id.
   */
  document(): object
  readonly page: DocsPage
}

/** Creates the documentation of the routes of a dispatcher. */
export function createDocumentation(
  dispatcher: Dispatcher,
  runtime: PipelineRuntime,
  openapi: OpenApiOptions & { readonly path: string },
): Documentation {
  let document: object | undefined
  let revision = -1
  return {
    document() {
      if (document === undefined || revision !== dispatcher.revision) {
        ;({ revision } = dispatcher)
        document = buildOpenApi(dispatcher.routes, runtime, openapi)
      }
      return document
    },
    page: docsPage({ title: openapi.title ?? 'API', documentUrl: openapi.path }),
  }
}

function buildOpenApi(routes: readonly Route[], runtime: PipelineRuntime, openapi: OpenApiOptions): object {
  return buildDocument({
    routes,
    problems: [...runtime.problems.keys()],
    title: openapi.title ?? 'API',
    version: openapi.version ?? '0.0.0',
    ...(openapi.description === undefined ? {} : { description: openapi.description }),
    ...(openapi.servers === undefined ? {} : { servers: openapi.servers }),
    ...(runtime.securityScheme === undefined ? {} : { security: runtime.securityScheme }),
    // The application cannot change the schemas of a brick.
    warn: (message, route) => {
      if (!route.origin.startsWith('brick ')) runtime.logger.warn(message)
    },
  })
}
