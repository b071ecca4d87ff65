import { isObject } from '../support/describe-value.ts'
import { parsePattern } from '../routing/path-pattern.ts'
import type { Route } from '../routing/route.ts'
import { withoutEmpty, type JsonObject } from './json.ts'
import type { SchemaReader } from './schema-reader.ts'

// OpenAPI 3.1 §4.8.12.2: header parameters with these names are ignored; other parts of the operation describe them.
const HEADERS_SAID_ELSEWHERE = new Set(['accept', 'content-type', 'authorization'])

/** One key of an object schema. */
interface Field {
  readonly name: string
  readonly schema: JsonObject
  readonly isRequired: boolean
}

/** Returns the parameters of an operation: path order first, then query and headers in schema order. */
export function parametersOf(route: Route, reader: SchemaReader): JsonObject[] {
  const query = fieldsOf(route, 'query', reader)
  const headers = fieldsOf(route, 'headers', reader)
  return [
    ...pathParameters(route, reader),
    ...query.map((field) => parameter('query', field)),
    ...headers
      .filter((field) => !HEADERS_SAID_ELSEWHERE.has(field.name.toLowerCase()))
      .map((field) => parameter('header', field)),
  ]
}

/** Path parameters are always listed and required, with or without a schema (OpenAPI 3.1 §4.8.12.2). */
function pathParameters(route: Route, reader: SchemaReader): JsonObject[] {
  const fields = new Map(fieldsOf(route, 'params', reader).map((field) => [field.name, field]))
  return parsePattern(route.path, route.origin).flatMap((segment) => {
    if (segment.kind === 'static') return []
    const { name } = segment
    const schema = fields.get(name)?.schema ?? { type: 'string' }
    const field = parameter('path', { name, schema, isRequired: true })
    return [segment.kind === 'param' ? field : catchAll(field)]
  })
}

/**
 * OpenAPI has no catch-all: the description explains it, and `x-catch-all` marks it for programs such as the docs page.
 */
function catchAll(field: JsonObject): JsonObject {
  const own = typeof field.description === 'string' ? `${field.description} ` : ''
  return { ...field, description: `${own}The rest of the path, with its slashes.`, 'x-catch-all': true }
}

function parameter(location: string, { name, schema, isRequired }: Field): JsonObject {
  const { description, ...rest } = schema
  return withoutEmpty({ name, in: location, description, required: isRequired || undefined, schema: rest })
}

function fieldsOf(route: Route, location: 'params' | 'query' | 'headers', reader: SchemaReader): Field[] {
  const schema = route.definition[location]
  if (!schema) return []
  const { type, properties = {}, required } = reader.readFields(schema, { route, part: location })
  if (type !== 'object' || !isObject(properties)) {
    reader.warn({ route, part: location }, 'it is not an object schema, so its parameters are not known')
    return []
  }
  const names = new Set(Array.isArray(required) ? required : [])
  return Object.entries(properties).map(([name, field]) => ({
    name,
    schema: isObject(field) ? withoutNull(field) : {},
    isRequired: names.has(name),
  }))
}

/** Text cannot be null, so a generated client should not offer it. */
function withoutNull({ type, enum: values, anyOf, ...rest }: JsonObject): JsonObject {
  const [reference, ...others] = withoutNulls(anyOf, isNullSchema)
  if (isObject(reference) && others.length === 0) return { ...rest, ...reference }
  const types = withoutNulls(type, (name) => name === 'null')
  return withoutEmpty({
    type: types.length === 1 ? types[0] : type,
    enum: Array.isArray(values) ? withoutNulls(values, (value) => value === null) : undefined,
    anyOf,
    ...rest,
  })
}

function withoutNulls(list: unknown, isNull: (item: unknown) => boolean): unknown[] {
  return Array.isArray(list) ? list.filter((item) => !isNull(item)) : []
}

function isNullSchema(schema: unknown): boolean {
  return isObject(schema) && schema.type === 'null'
}
