import {
  ANNOTATIONS,
  type DescriptionPlace,
  type JsonSchema,
  type Keywords,
  type LabelledSchema,
} from '../json-schema-parts.ts'
import { allowedValues, type YupNode } from '../../compat/yup.ts'

/** Keys of `meta` beside the annotations. */
const KEYWORDS = [...ANNOTATIONS, 'title', 'format', 'contentEncoding', 'contentMediaType']

const TYPES = new Set(['string', 'number', 'integer', 'boolean', 'object', 'array', 'null'])

/** Returns the describing keys of `meta`: those of JSON Schema, `example`, and extensions (`x-…`). */
export function annotationsOf({ spec }: YupNode): JsonSchema {
  const meta = spec.meta ?? {}
  const known = Object.entries(meta).filter(([key]) => KEYWORDS.includes(key) || key.startsWith('x-'))
  return {
    // `type` may also be a name for the application's own use, such as 'textarea'.
    ...([meta.type].flat().every((name) => TYPES.has(name as string)) && { type: meta.type }),
    ...('example' in meta && { examples: [jsonValue(meta.example)] }),
    ...Object.fromEntries(known.map(([key, value]) => [key, jsonValue(value)])),
  }
}

const COMPOUND = new Set(['object', 'array', 'tuple'])

/** Returns what a component needs of a schema with a label: an object, a list or several allowed values. */
export function labelledOf(
  schema: YupNode,
  place: DescriptionPlace,
  describe: (schema: YupNode, place: DescriptionPlace) => JsonSchema,
): LabelledSchema | undefined {
  const { label: own, meta } = schema.spec
  const label = typeof meta?.title === 'string' ? meta.title : own
  if (label === undefined || !(COMPOUND.has(schema.type) || allowedValues(schema).size > 1)) return undefined
  return {
    label,
    identity: { schema, part: '' },
    annotations: withoutTitle(annotationsOf(schema)),
    // The description does not depend on its place: it is used elsewhere too.
    describe: (direction, onOmission, refer) =>
      describe(schema, { direction, onOmission, path: place.path, refer }),
  }
}

function withoutTitle(annotations: JsonSchema): JsonSchema {
  return Object.fromEntries(Object.entries(annotations).filter(([key]) => key !== 'title'))
}

/** Returns the default of a schema, unless a function works it out. */
export function plainDefault(value: unknown): unknown {
  return value === undefined || typeof value === 'function' ? undefined : jsonValue(value)
}

/** Returns a value as JSON has it. */
export function jsonValue(value: unknown): unknown {
  const text = JSON.stringify(value) as string | undefined
  return text === undefined ? null : JSON.parse(text)
}

/** Adds null to the described values. */
export function allowNull(keywords: Keywords): void {
  if (typeof keywords.type === 'string') keywords.type = [keywords.type, 'null']
  if ('const' in keywords) {
    keywords.enum = [keywords.const, null]
    delete keywords.const
  } else if (Array.isArray(keywords.enum) && !keywords.enum.includes(null))
    keywords.enum = [...keywords.enum, null]
}
