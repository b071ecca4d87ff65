/** A JSON Schema (draft 2020-12, the dialect of OpenAPI 3.1), as plain data. */
export type JsonSchema = { readonly [keyword: string]: unknown }

/** Called for each part that a JSON Schema leaves out, with the path inside the schema and the reason. */
export type OnOmission = (path: string, reason: string) => void

/**
 * `input`: the values that a caller may send. `output`: the values of a response, where a field with a default always
 * exists.
 */
export type Direction = 'input' | 'output'

/** Position in the schema and direction of a description. */
export interface DescriptionPlace {
  readonly direction: Direction
  readonly onOmission: OnOmission
  readonly path: string
}

/** The keywords of a description during their collection. */
export type Keywords = Record<string, unknown>
