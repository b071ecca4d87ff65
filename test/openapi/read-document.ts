import { buildDocument, type DocumentInput } from '../../src/openapi/document.ts'
import type { Route } from '../../src/routing/route.ts'

/** An operation of a document. */
export interface Operation {
  operationId: string
  tags?: string[]
  summary?: string
  description?: string
  parameters?: { name: string; in: string; required?: boolean; schema: object; description?: string }[]
  requestBody?: { required?: boolean; content: Record<string, { schema?: object }> }
  responses: Record<string, { description: string; content?: Record<string, { schema: object }> }>
  security?: object[]
  'x-policies'?: string[]
}

/** A document as the tests read it. */
export interface Document {
  openapi: string
  info: object
  tags?: object[]
  servers?: object[]
  paths: Record<string, Record<string, Operation>>
  components: { schemas: Record<string, object>; securitySchemes?: object }
}

/** A scheme that an authenticator declares. */
export const SECURITY = { name: 'bearer', scheme: { type: 'http', scheme: 'bearer', bearerFormat: 'JWT' } }

/** Builds the document of the routes. */
export function documentOf(routes: readonly Route[], more: Partial<DocumentInput> = {}): Document {
  return buildDocument({ routes, title: 'Notes', version: '1.2.3', ...more }) as Document
}

/** Builds the operation of one route. */
export function operationFor(route: Route): Operation {
  const [item] = Object.values(documentOf([route]).paths)
  return item![route.method.toLowerCase()]!
}
