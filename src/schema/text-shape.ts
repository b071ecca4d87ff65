import { inputOfStandard } from './json-schema-standard.ts'
import type { Schema } from './schema.ts'
import { kindOfYup, type TextShape } from './yup/query-coercion.ts'
import { isYup } from '../compat/yup.ts'

const ANY: TextShape = { kind: 'any' }

/** Returns the shape that a schema expects of text. */
export function shapeOf(schema: Schema): TextShape {
  return isYup(schema) ? shapeOfYup(schema) : shapeOfJson(inputOfStandard(schema))
}

/** Returns the shape that a yup schema expects of text. A lazy schema expects anything. */
export function shapeOfYup(schema: unknown): TextShape {
  if (!isYup(schema) || schema.type === 'lazy') return ANY
  const kind = kindOfYup(schema)
  if (schema.type === 'tuple')
    return { kind, items: (schema.spec.types as readonly unknown[]).map(shapeOfYup) }
  if (kind === 'list') return { kind, ...(schema.innerType && { item: shapeOfYup(schema.innerType) }) }
  if (kind !== 'object') return { kind }
  const members = Object.entries(schema.fields ?? {}).map(([key, field]) => [key, shapeOfYup(field)] as const)
  return { kind, members: new Map(members) }
}

/** Returns the shape that a schema expects of text from its JSON Schema, for validators that expose nothing else. */
export function shapeOfJson(schema: unknown): TextShape {
  if (typeof schema !== 'object' || schema === null) return ANY
  const { type, anyOf, items, properties } = schema as Readonly<Record<string, unknown>>
  if (Array.isArray(anyOf))
    return shapeOfJson(onlyOther(anyOf, (one) => (one as { type?: unknown } | null)?.type))
  const name = Array.isArray(type) ? onlyOther(type, (one) => one) : type
  if (name === 'array') return { kind: 'list', ...(items !== undefined && { item: shapeOfJson(items) }) }
  if (name === 'number' || name === 'integer') return { kind: 'number' }
  if (name === 'boolean') return { kind: 'boolean' }
  if (name !== 'object') return ANY
  const members = Object.entries(properties ?? {}).map(([key, member]) => [key, shapeOfJson(member)] as const)
  return { kind: 'object', members: new Map(members) }
}

/** Returns the only alternative that is not null, or undefined if there are several. */
function onlyOther(alternatives: readonly unknown[], typeOf: (one: unknown) => unknown): unknown {
  const others = alternatives.filter((one) => typeOf(one) !== 'null')
  return others.length === 1 ? others[0] : undefined
}
