import type { OptionChecks } from '../support/check-options.ts'

/** Options of the OpenAPI document and its page. */
export interface OpenApiOptions {
  readonly title?: string
  readonly version?: string
  readonly description?: string
  readonly servers?: readonly { readonly url: string; readonly description?: string }[]
  /** Path of the document; `/openapi.json` by default. */
  readonly path?: string
  /** Path of the documentation page; `/docs` by default, `false` for none. */
  readonly docs?: string | false
}

/** Kinds of the options. */
export const OPENAPI_KEYS = {
  title: 'string',
  version: 'string',
  description: 'string',
  servers: 'servers',
  path: 'string',
  docs: ['string', 'false'],
} as const satisfies OptionChecks<OpenApiOptions>['keys']
