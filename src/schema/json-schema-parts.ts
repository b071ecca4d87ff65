/** A JSON Schema (draft 2020-12, the dialect of OpenAPI 3.1), as plain data. */
export type JsonSchema = { readonly [keyword: string]: unknown }

/** Called for each part that a JSON Schema leaves out, with the path inside the schema and the reason. */
export type OnOmission = (path: string, reason: string) => void

/**
 * `input`: the values that a caller may send. `output`: the values of a response, where a field with a default always
 * exists.
 */
export type Direction = 'input' | 'output'

/** A schema with a label, which a document describes once and refers to. */
export interface LabelledSchema {
  readonly label: string
  /** Identity: equal for all uses of one schema. */
  readonly identity: { readonly schema: object; readonly part: string }
  /** Description, examples and other keywords without an effect on the values. */
  readonly annotations: JsonSchema
  /** Returns the description without annotations, null and default. Labelled schemas inside it are given to `refer`. */
  describe(direction: Direction, onOmission: OnOmission, refer: Refer): JsonSchema
}

/** Stores the labelled schemas of a document. Returns a reference to one of them. */
export type Refer = (labelled: LabelledSchema, direction: Direction, onOmission: OnOmission) => JsonSchema

/** Options of a description. */
export interface DescriptionOptions {
  readonly onOmission?: OnOmission
  /** Describes labelled schemas by reference. By default each is described where it is used. */
  readonly refer?: Refer
  /** True to describe the schema itself in place, also if it has a label. */
  readonly isRootInline?: boolean
}

/** Position in the schema and direction of a description. */
export interface DescriptionPlace {
  readonly direction: Direction
  readonly onOmission: OnOmission
  readonly path: string
  readonly refer?: Refer | undefined
  /** Lazy schemas on the current path, so that a recursive schema ends. */
  readonly open?: readonly object[]
}

/** The keywords of a description during their collection. */
export type Keywords = Record<string, unknown>

/** Keywords that describe a schema to people and programs, without an effect on the values. */
export const ANNOTATIONS: readonly string[] = [
  'description',
  'examples',
  'deprecated',
  'readOnly',
  'writeOnly',
]
