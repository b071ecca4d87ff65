/** A JSON Schema (draft 2020-12, the dialect of OpenAPI 3.1), as plain data. */
export type JsonSchema = { readonly [keyword: string]: unknown }

/** Is told what a JSON Schema leaves out: the path inside the schema, and why. */
export type OnOmission = (path: string, reason: string) => void

/** `input`: what a caller may send. `output`: what is sent, where a field with a default is always there. */
export type Direction = 'input' | 'output'

/** Where in the schema a description is, and for whom. */
export interface DescriptionPlace {
  readonly direction: Direction
  readonly onOmission: OnOmission
  readonly path: string
}

/** The keywords of a description while they are collected. */
export type Keywords = Record<string, unknown>
