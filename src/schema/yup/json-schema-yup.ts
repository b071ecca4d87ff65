import { addConstraints } from './json-schema-constraints.ts'
import type { DescriptionPlace, Direction, JsonSchema, Keywords } from '../json-schema-parts.ts'
import { isFileSchema } from './file.ts'
import { childPath } from '../invalid.ts'
import { allowedValues, isConditional, isRef, isYup, refusedValues, type YupNode } from '../../compat/yup.ts'

/** Describes a yup schema. Parts that JSON Schema cannot express are reported and left out. */
export function jsonSchemaOfYup(schema: unknown, place: DescriptionPlace): JsonSchema {
  if (!isYup(schema)) return omit(place, isRef(schema) ? 'a reference is not shown' : 'it is not a schema')
  if (schema.type === 'lazy')
    return { ...omit(place, 'a lazy schema is not shown'), ...annotationsOf(schema) }
  // OpenAPI's notation of a part with bytes. JSON Schema cannot express the limits of a file.
  if (isFileSchema(schema)) return { type: 'string', format: 'binary', ...annotationsOf(schema) }
  if (isConditional(schema)) place.onOmission(place.path, 'its conditions (when) are not shown')
  const keywords: Keywords = { ...TYPES[schema.type]?.(schema, place) }
  addConstraints(schema, keywords, place)
  addLists(schema, keywords)
  if (schema.spec.nullable) allowNull(keywords)
  const fallback = plainDefault(schema.spec.default)
  return { ...keywords, ...(fallback === undefined ? {} : { default: fallback }), ...annotationsOf(schema) }
}

function omit(place: DescriptionPlace, reason: string): JsonSchema {
  place.onOmission(place.path, reason)
  return {}
}

type Describe = (schema: YupNode, place: DescriptionPlace) => JsonSchema

const TYPES: Readonly<Record<string, Describe>> = {
  string: () => ({ type: 'string' }),
  number: () => ({ type: 'number' }),
  boolean: () => ({ type: 'boolean' }),
  date: () => ({ type: 'string', format: 'date-time' }),
  array: ({ innerType }, place) => {
    if (innerType === undefined) return { type: 'array' }
    return { type: 'array', items: jsonSchemaOfYup(innerType, { ...place, path: `${place.path}[]` }) }
  },
  tuple: ({ spec }, place) => {
    const types = spec.types as readonly unknown[]
    const prefixItems = types.map((type, index) =>
      jsonSchemaOfYup(type, { ...place, path: childPath(place.path, index) }),
    )
    return { type: 'array', prefixItems, items: false, minItems: types.length, maxItems: types.length }
  },
  object: describeObject,
}

function describeObject(schema: YupNode, place: DescriptionPlace): JsonSchema {
  const shown = Object.entries(schema.fields ?? {}).filter(
    ([, field]) => !(isYup(field) && field.spec.strip === true && place.direction === 'output'),
  )
  const properties = shown.map(
    ([key, field]) => [key, jsonSchemaOfYup(field, { ...place, path: childPath(place.path, key) })] as const,
  )
  const required = shown.filter(([, field]) => isRequired(field, place.direction)).map(([key]) => key)
  const closed = schema.spec.noUnknown === true || schema.tests.some((test) => test.OPTIONS.name === 'exact')
  return {
    type: 'object',
    ...(shown.length > 0 && { properties: Object.fromEntries(properties) }),
    ...(required.length > 0 && { required }),
    ...(closed && { additionalProperties: false }),
  }
}

/**
 * True if a field is required. yup builds an absent object from its fields' defaults and then checks it, so an optional
 * object with a required field is required in a request. In a response, no object is built.
 */
function isRequired(field: unknown, direction: Direction): boolean {
  if (!isYup(field) || field.type === 'lazy') return false
  const { spec, fields } = field
  if (spec.default !== undefined) return direction === 'output'
  if (!spec.optional) return true
  if (direction === 'output' || fields === undefined || 'default' in spec) return false
  return Object.values(fields).some((inner) => isRequired(inner, direction))
}

/** `oneOf` and `notOneOf`. yup accepts null despite `oneOf` if the schema is nullable. */
function addLists(schema: YupNode, keywords: Keywords): void {
  const allowed = [...allowedValues(schema)]
    .filter((value) => !isRef(value) && value !== undefined)
    .map(jsonValue)
  const refused = [...refusedValues(schema)]
    .filter((value) => !isRef(value) && value !== undefined)
    .map(jsonValue)
  if (allowed.length === 1) keywords.const = allowed[0]
  if (allowed.length > 1) keywords.enum = allowed
  if (refused.length > 0) keywords.not = { enum: refused }
}

function allowNull(keywords: Keywords): void {
  if (typeof keywords.type === 'string') keywords.type = [keywords.type, 'null']
  if ('const' in keywords) {
    keywords.enum = [keywords.const, null]
    delete keywords.const
  } else if (Array.isArray(keywords.enum) && !keywords.enum.includes(null))
    keywords.enum = [...keywords.enum, null]
}

const ANNOTATIONS = [
  'title',
  'description',
  'format',
  'examples',
  'deprecated',
  'readOnly',
  'writeOnly',
  'contentEncoding',
  'contentMediaType',
]

/** Returns `label` and the annotating keys of `meta`: those of JSON Schema, `example`, and extensions (`x-…`). */
function annotationsOf({ spec }: YupNode): JsonSchema {
  const meta = spec.meta ?? {}
  const known = Object.entries(meta).filter(([key]) => ANNOTATIONS.includes(key) || key.startsWith('x-'))
  return {
    ...(spec.label !== undefined && { title: spec.label }),
    ...('example' in meta && { examples: [jsonValue(meta.example)] }),
    ...Object.fromEntries(known.map(([key, value]) => [key, jsonValue(value)])),
  }
}

function plainDefault(value: unknown): unknown {
  return value === undefined || typeof value === 'function' ? undefined : jsonValue(value)
}

function jsonValue(value: unknown): unknown {
  const text = JSON.stringify(value) as string | undefined
  return text === undefined ? null : JSON.parse(text)
}
