import { inputOfStandard } from './json-schema-standard.ts'
import type { Schema } from './schema.ts'
import { kindOfYup, type TextShape } from './yup/query-coercion.ts'
import { isRecord, isYup } from '../compat/yup.ts'

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

const KINDS: Readonly<Record<string, TextShape['kind']>> = {
  number: 'number',
  integer: 'number',
  boolean: 'boolean',
  array: 'list',
  object: 'object',
}

/** Returns the shape that a schema expects of text from its JSON Schema, for validators that expose nothing else. */
export function shapeOfJson(schema: unknown): TextShape {
  if (!isRecord(schema)) return ANY
  const { anyOf, oneOf, allOf, items, prefixItems, properties } = schema
  const parts = anyOf ?? oneOf ?? allOf
  if (Array.isArray(parts)) return commonShape(parts.filter(isNotNull).map(shapeOfJson))
  const [kind, ...others] = new Set(typesOf(schema).map((type) => KINDS[String(type)]))
  if (kind === undefined || others.length > 0) return ANY
  const members = Object.entries(properties ?? {}).map(([key, member]) => [key, shapeOfJson(member)] as const)
  return {
    kind,
    ...(items !== undefined && { item: shapeOfJson(items) }),
    ...(Array.isArray(prefixItems) && { items: prefixItems.map(shapeOfJson) }),
    ...(kind === 'object' && { members: new Map(members) }),
  }
}

/** Returns what the parts of an intersection, or the alternatives of a union, have in common. */
function commonShape(shapes: readonly TextShape[]): TextShape {
  const [first = ANY, ...others] = shapes
  const { kind, members } = first
  if (others.length === 0) return first
  if (others.some((other) => other.kind !== kind)) return ANY
  if (members === undefined) return { kind }
  const all = shapes.flatMap((shape) => [...shape.members!])
  const commonOf = (name: string) => commonShape(all.flatMap(([key, shape]) => (key === name ? shape : [])))
  return { kind, members: new Map(all.map(([name]) => [name, commonOf(name)])) }
}

/** Returns the types of a schema except null: those that it names, else those of its constants. */
function typesOf({ type, enum: values, const: constant }: Readonly<Record<string, unknown>>): unknown[] {
  const constants = [values ?? constant ?? []].flat().filter((one) => one !== null)
  return [type ?? constants.map((one) => typeof one)].flat().filter((one) => one !== 'null')
}

function isNotNull(part: unknown): boolean {
  return !isRecord(part) || part['type'] !== 'null'
}
