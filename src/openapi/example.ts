import { isObject } from '../support/describe-value.ts'
import type { JsonObject } from './json.ts'

/**
 * Returns a value that a JSON Schema accepts, for the prefilled body of the documentation page. `examples`, `default`,
 * `const` and `enum` come first. Undefined for a file and for a string with a pattern: the property is left out.
 */
export function exampleOf(schema: unknown, name = ''): unknown {
  if (!isObject(schema)) return undefined
  const given = givenExample(schema)
  if (given !== undefined) return given
  const alternatives = [schema.oneOf, schema.anyOf].find(Array.isArray) as unknown[] | undefined
  if (alternatives)
    return alternatives.map((part) => exampleOf(part, name)).find((value) => value !== undefined)
  if (Array.isArray(schema.allOf)) return exampleOf(merged(schema), name)
  return EXAMPLES[typeOf(schema)]?.(schema, name)
}

function givenExample({
  example,
  examples,
  default: fallback,
  const: only,
  enum: list,
}: JsonObject): unknown {
  const [first] = Array.isArray(examples) ? (examples as unknown[]) : []
  // An empty default is a poor example, and often an optional field's.
  const filled = fallback === null || fallback === '' ? undefined : fallback
  return example ?? first ?? only ?? filled ?? (Array.isArray(list) ? (list as unknown[])[0] : undefined)
}

function merged({ allOf, ...rest }: JsonObject): JsonObject {
  return Object.assign({}, ...(allOf as unknown[]).filter(isObject), rest) as JsonObject
}

function typeOf({ type, properties, items }: JsonObject): string {
  const [first] = [type].flat().filter((each) => each !== 'null')
  if (typeof first === 'string') return first
  return properties ? 'object' : items ? 'array' : ''
}

const EXAMPLES: Readonly<Record<string, (schema: JsonObject, name: string) => unknown>> = {
  string: stringExample,
  number: numberExample,
  integer: numberExample,
  boolean: () => true,
  array: arrayExample,
  object: objectExample,
}

/** Values of the formats. The address is of a domain that is reserved for examples (RFC 2606 §3). */
const FORMATS: Readonly<Record<string, string>> = {
  email: 'ada@example.com',
  password: 'brisk-Otter-paints-42-kites',
  uuid: '3f2b8c1e-6d4a-4f0b-9a57-1c2d3e4f5a6b',
  uri: 'https://example.com/',
  url: 'https://example.com/',
  'date-time': '2030-01-02T03:04:05.000Z',
  date: '2030-01-02',
  time: '03:04:05Z',
  duration: 'PT1H',
  hostname: 'example.com',
  ipv4: '192.0.2.1',
  ipv6: '2001:db8::1',
}

function stringExample(schema: JsonObject, name: string): string | undefined {
  const { format, pattern, contentEncoding } = schema
  if (format === 'binary' || contentEncoding === 'binary') return undefined
  const known = typeof format === 'string' ? FORMATS[format] : undefined
  if (known !== undefined) return known
  if (typeof pattern === 'string') return undefined
  const [least, most] = [limit(schema.minLength, 0), limit(schema.maxLength, Infinity)]
  const word = /^(user|display|full|first)?_?name$/i.test(name) ? 'Ada Lovelace' : name || 'text'
  return (word.length < least ? word.padEnd(least, ` ${word}`) : word).slice(0, most)
}

function numberExample(schema: JsonObject): number {
  const least = limit(schema.minimum, limit(schema.exclusiveMinimum, -Infinity))
  const most = limit(schema.maximum, limit(schema.exclusiveMaximum, Infinity))
  const step = limit(schema.multipleOf, typeOf(schema) === 'integer' ? 1 : 0)
  const isAbove = schema.minimum === undefined && schema.exclusiveMinimum !== undefined
  const isBelow = schema.maximum === undefined && schema.exclusiveMaximum !== undefined
  if (step > 0) {
    const first = Math.max(1, Math.ceil(least / step) + (isAbove && least % step === 0 ? 1 : 0))
    const last = Math.floor(most / step) - (isBelow && most % step === 0 ? 1 : 0)
    return Math.min(first, last) * step
  }
  const isInside = (value: number): boolean =>
    (isAbove ? value > least : value >= least) && (isBelow ? value < most : value <= most)
  const far = Number.isFinite(least) ? least + 1 : most - 1
  return (
    [1, least, most, far].find((value) => Number.isFinite(value) && isInside(value)) ?? (least + most) / 2
  )
}

function arrayExample(schema: JsonObject, name: string): unknown[] {
  const { items, prefixItems } = schema
  if (Array.isArray(prefixItems)) return prefixItems.map((item) => exampleOf(item) ?? null)
  const item = exampleOf(items, name.replace(/s$/, ''))
  const count = Math.min(Math.max(1, limit(schema.minItems, 0)), limit(schema.maxItems, Infinity), 100)
  return item === undefined ? [] : Array.from({ length: count }, () => item)
}

function objectExample({ properties }: JsonObject): JsonObject {
  if (!isObject(properties)) return {}
  const entries = Object.entries(properties).map(([name, schema]) => [name, exampleOf(schema, name)] as const)
  return Object.fromEntries(entries.filter(([, value]) => value !== undefined))
}

function limit(value: unknown, fallback: number): number {
  return typeof value === 'number' ? value : fallback
}
