import type { Route } from '../routing/route.ts'
import { withoutEmpty, type JsonObject } from './json.ts'
import type { SchemaReader } from './schema-reader.ts'

/** True when the route reads a body that it describes, by a schema or by media types. */
export function hasBody({ definition }: Route): boolean {
  return definition.body !== undefined || (definition.consumes?.length ?? 0) > 0
}

/** The request body in each media type that the route reads; JSON when it names none. */
export function requestBodyOf(route: Route, reader: SchemaReader): JsonObject | undefined {
  if (!hasBody(route)) return undefined
  const { body, consumes } = route.definition
  const schema = body && reader.read(body, 'input', { route, part: 'body' })
  const types = consumes && consumes.length > 0 ? consumes : ['application/json']
  return withoutEmpty({
    description: schema?.description,
    required: isOptional(schema) ? undefined : true,
    content: Object.fromEntries(types.map((type) => [type, schema ? { schema } : {}])),
  })
}

/** An object without a required key may be left out, as its schema takes nothing for `{}`. */
function isOptional(schema: JsonObject | undefined): boolean {
  if (schema?.type !== 'object') return false
  return !Array.isArray(schema.required) || schema.required.length === 0
}
