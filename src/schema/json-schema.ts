import type { Direction, JsonSchema, OnOmission } from './json-schema-parts.ts'
import { jsonSchemaOfYup } from './yup/json-schema-yup.ts'
import type { Schema } from './schema.ts'
import { isStandard } from './validate-standard.ts'
import { isYup } from '../compat/yup.ts'

/**
 * Returns the JSON Schema of a schema. Parts that it cannot express become `{}`, which allows anything, and are
 * reported to `onOmission`. Never throws. Standard Schema validators provide their own (`~standard.jsonSchema`).
 */
export function jsonSchemaOf(
  schema: Schema,
  direction: Direction,
  onOmission: OnOmission = ignore,
): JsonSchema {
  try {
    if (isYup(schema)) return jsonSchemaOfYup(schema, { direction, onOmission, path: '' })
    return jsonSchemaOfStandard(schema, direction, onOmission)
  } catch (error) {
    onOmission('', `it cannot be described (${error instanceof Error ? error.message : String(error)})`)
    return {}
  }
}

const ignore: OnOmission = () => undefined

/** The Standard JSON Schema interface (https://standardschema.dev/json-schema). */
interface JsonSchemaSource {
  readonly jsonSchema?: Readonly<Record<Direction, (options: object) => JsonSchema>>
}

/** Options of zod, the one vendor that refuses a whole schema for one part that has no JSON form. */
const LIBRARY_OPTIONS = { unrepresentable: 'any' }

function jsonSchemaOfStandard(schema: unknown, direction: Direction, onOmission: OnOmission): JsonSchema {
  const source = isStandard(schema) ? (schema['~standard'] as JsonSchemaSource).jsonSchema : undefined
  if (source === undefined) {
    onOmission('', 'its library does not describe schemas (Standard JSON Schema)')
    return {}
  }
  const described = source[direction]({ target: 'draft-2020-12', libraryOptions: LIBRARY_OPTIONS })
  const { $schema: _, $defs: definitions, ...root } = described
  return inlined(
    root,
    { root, definitions: (definitions ?? {}) as JsonSchema, open: [] },
    onOmission,
  ) as JsonSchema
}

interface References {
  readonly root: JsonSchema
  readonly definitions: JsonSchema
  /** References on the current path, so that a recursive schema ends. */
  readonly open: readonly string[]
}

/** Copies a description without its references: inside a document, `#/$defs/…` would point into the document. */
function inlined(node: unknown, references: References, onOmission: OnOmission): unknown {
  if (Array.isArray(node)) return node.map((item) => inlined(item, references, onOmission))
  if (typeof node !== 'object' || node === null) return node
  const { $ref: reference, ...rest } = node as JsonSchema
  const members = Object.entries(rest).map(
    ([key, value]) => [key, inlined(value, references, onOmission)] as const,
  )
  if (typeof reference !== 'string') return Object.fromEntries(members)
  if (references.open.includes(reference)) {
    onOmission('', `it refers to itself (${reference}), which is shown as anything`)
    return {}
  }
  const name = reference.replace('#/$defs/', '')
  const target = reference === '#' ? references.root : references.definitions[name]
  const open = [...references.open, reference]
  const resolved = inlined(target ?? {}, { ...references, open }, onOmission) as JsonSchema
  return { ...resolved, ...Object.fromEntries(members) }
}
