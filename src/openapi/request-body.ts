import type { Route } from '../routing/route.ts'
import { formShapeOf, type FormShape } from '../schema/form-shape.ts'
import { exampleOf } from './example.ts'
import { withoutEmpty, type JsonObject } from './json.ts'
import { rawSchemaOf } from './media-type.ts'
import type { SchemaReader } from './schema-reader.ts'

/** True when the route describes its body by a schema or by media types, or reads the bytes. */
export function hasBody({ definition }: Route): boolean {
  const { body, consumes, rawBody } = definition
  return body !== undefined || (consumes?.length ?? 0) > 0 || rawBody === true
}

/** Returns the request body for each media type of the route. Default: multipart for files, else JSON. */
export function requestBodyOf(route: Route, reader: SchemaReader): JsonObject | undefined {
  if (!hasBody(route)) return undefined
  const { body } = route.definition
  const read = body && reader.read(body, 'input', { route, part: 'body' })
  const form = formShapeOf(body)
  return withoutEmpty({
    description: read?.keywords.description,
    required: isOptional(read?.keywords) ? undefined : true,
    content: Object.fromEntries(
      typesOf(route, form).map((type) => [
        type,
        {
          schema: read?.schema ?? rawSchemaOf(type),
          ...exampleEntry(type, read?.keywords),
          ...(type === MULTIPART && encodingOf(form)),
        },
      ]),
    ),
  })
}

/** A body that the schema accepts. A program that sends parts of a form makes their fields of the schema itself. */
function exampleEntry(type: string, schema: JsonObject | undefined): JsonObject {
  const example = type === MULTIPART || schema === undefined ? undefined : exampleOf(schema)
  return example === undefined ? {} : { example }
}

const MULTIPART = 'multipart/form-data'

/** Without a schema, a route with `rawBody` reads any type. */
const ANY = '*/*'

function typesOf({ definition: { body, consumes } }: Route, form: FormShape): readonly string[] {
  if (consumes !== undefined && consumes.length > 0) return consumes
  if (form.hasFiles) return [MULTIPART]
  return [body === undefined ? ANY : 'application/json']
}

/** The media types of the parts that are files (OpenAPI 3.1, encoding object). */
function encodingOf({ types }: FormShape): JsonObject {
  if (types.size === 0) return {}
  const encoding = [...types].map(([name, list]) => [name, { contentType: list.join(', ') }] as const)
  return { encoding: Object.fromEntries(encoding) }
}

/** An object without a required key is optional, since its schema accepts a missing body as `{}`. */
function isOptional(keywords: JsonObject | undefined): boolean {
  if (keywords?.type !== 'object') return false
  return !Array.isArray(keywords.required) || keywords.required.length === 0
}
