import type { Route } from '../routing/route.ts'
import { formShapeOf, type FormShape } from '../schema/form-shape.ts'
import { withoutEmpty, type JsonObject } from './json.ts'
import type { SchemaReader } from './schema-reader.ts'

/** True when the route describes its body by a schema or by media types. */
export function hasBody({ definition }: Route): boolean {
  return definition.body !== undefined || (definition.consumes?.length ?? 0) > 0
}

/** Returns the request body for each media type of the route. Default: multipart for files, else JSON. */
export function requestBodyOf(route: Route, reader: SchemaReader): JsonObject | undefined {
  if (!hasBody(route)) return undefined
  const { body, consumes } = route.definition
  const schema = body && reader.read(body, 'input', { route, part: 'body' })
  const form = formShapeOf(body)
  const types = consumes && consumes.length > 0 ? consumes : [form.hasFiles ? MULTIPART : 'application/json']
  return withoutEmpty({
    description: schema?.description,
    required: isOptional(schema) ? undefined : true,
    content: Object.fromEntries(
      types.map((type) => [type, { ...(schema && { schema }), ...(type === MULTIPART && encodingOf(form)) }]),
    ),
  })
}

const MULTIPART = 'multipart/form-data'

/** The media types of the parts that are files (OpenAPI 3.1, encoding object). */
function encodingOf({ types }: FormShape): JsonObject {
  if (types.size === 0) return {}
  const encoding = [...types].map(([name, list]) => [name, { contentType: list.join(', ') }] as const)
  return { encoding: Object.fromEntries(encoding) }
}

/** An object without a required key is optional, since its schema accepts a missing body as `{}`. */
function isOptional(schema: JsonObject | undefined): boolean {
  if (schema?.type !== 'object') return false
  return !Array.isArray(schema.required) || schema.required.length === 0
}
