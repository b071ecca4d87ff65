import { addConstraints } from './json-schema-constraints.ts'
import { allowNull, annotationsOf, jsonValue, labelledOf, plainDefault } from './json-schema-annotations.ts'
import type { DescriptionPlace, Direction, JsonSchema, Keywords } from '../json-schema-parts.ts'
import { isFileSchema } from './file.ts'
import { childPath } from '../invalid.ts'
import { allowedValues, isConditional, isRef, isYup, refusedValues, type YupNode } from '../../compat/yup.ts'
import { resolveLazy } from './resolve-lazy.ts'

/** Describes a yup schema. Parts that JSON Schema cannot express are reported and left out. */
export function jsonSchemaOfYup(schema: unknown, place: DescriptionPlace, isInline = false): JsonSchema {
  if (!isYup(schema)) return omit(place, isRef(schema) ? 'a reference is not shown' : 'it is not a schema')
  if (schema.type === 'lazy') return { ...describeLazy(schema, place), ...annotationsOf(schema) }
  // OpenAPI's notation of a part with bytes. JSON Schema cannot express the limits of a file.
  if (isFileSchema(schema))
    return { type: 'string', format: 'binary', ...titleOf(schema), ...annotationsOf(schema) }
  const fallback = plainDefault(schema.spec.default)
  const ending = fallback === undefined ? {} : { default: fallback }
  const labelled = isInline || place.refer === undefined ? undefined : labelledOf(schema, place, describe)
  if (labelled !== undefined) {
    const reference = place.refer!(labelled, place.direction, place.onOmission)
    return { ...(schema.spec.nullable ? { anyOf: [reference, { type: 'null' }] } : reference), ...ending }
  }
  const keywords = describe(schema, place)
  if (schema.spec.nullable) allowNull(keywords)
  return { ...keywords, ...ending, ...titleOf(schema), ...annotationsOf(schema) }
}

/** The keywords of a schema itself, without null, default and annotations. */
function describe(schema: YupNode, place: DescriptionPlace): Keywords {
  if (isConditional(schema)) place.onOmission(place.path, 'its conditions (when) are not shown')
  const keywords: Keywords = { ...TYPES[schema.type]?.(schema, place) }
  addConstraints(schema, keywords, place)
  addLists(schema, keywords)
  return keywords
}

function isFilled(value: unknown): boolean {
  return typeof value === 'string' && value !== ''
}

function titleOf({ spec }: YupNode): JsonSchema {
  return spec.label === undefined ? {} : { title: spec.label }
}

function omit(place: DescriptionPlace, reason: string): JsonSchema {
  place.onOmission(place.path, reason)
  return {}
}

/** Lazy schemas inside each other, without a label in between. */
const DEEPEST = 6

/** A lazy schema that ignores the value is described by its result. A label makes recursion possible. */
function describeLazy(schema: YupNode, place: DescriptionPlace): JsonSchema {
  const built = resolveLazy(schema)
  if (built === undefined) return omit(place, 'a lazy schema is not shown')
  const { open = [] } = place
  // A function that makes its schemas in each call never arrives at a known one.
  if (open.includes(schema) || open.length === DEEPEST)
    return omit(place, 'it refers to itself without a label, which is shown as anything')
  return jsonSchemaOfYup(built, { ...place, open: [...open, schema] })
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
  const isFree = !closed && shown.length === 0
  return {
    type: 'object',
    ...(shown.length > 0 && { properties: Object.fromEntries(properties) }),
    ...(required.length > 0 && { required }),
    // Without the keyword, generators take an object without properties for an empty one.
    ...((closed || isFree) && { additionalProperties: isFree }),
  }
}

/**
 * True if a field is required. yup builds an absent object from its fields' defaults and then checks it, so an optional
 * object with a required field is required in a request. In a response, no object is built.
 */
function isRequired(field: unknown, direction: Direction): boolean {
  if (!isYup(field)) return false
  if (field.type === 'lazy') return isRequiredLazy(field)
  const { spec, fields } = field
  if (spec.default !== undefined) return direction === 'output'
  if (!spec.optional) return true
  if (direction === 'output' || fields === undefined || 'default' in spec) return false
  return Object.values(fields).some((inner) => isRequired(inner, direction))
}

/** Does not look at the fields of the result, which may be recursive. */
function isRequiredLazy(field: YupNode): boolean {
  const spec = field.spec.optional ? undefined : resolveLazy(field)?.spec
  return spec !== undefined && !spec.optional && spec.default === undefined
}

/** `oneOf` and `notOneOf`. yup accepts null despite `oneOf` if the schema is nullable. */
function addLists(schema: YupNode, keywords: Keywords): void {
  const listed = (values: Iterable<unknown>) =>
    [...values].filter((value) => !isRef(value) && value !== undefined).map(jsonValue)
  const allowed = listed(allowedValues(schema))
  const refused = listed(refusedValues(schema))
  // Redundant, and it would make `required()` another schema.
  if (allowed.length > 0 && allowed.every(isFilled)) delete keywords.minLength
  if (allowed.length === 1) keywords.const = allowed[0]
  if (allowed.length > 1) keywords.enum = allowed
  if (refused.length > 0) keywords.not = { enum: refused }
}
