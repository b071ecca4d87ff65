import type { Route } from '../routing/route.ts'
import { jsonSchemaOf } from '../schema/json-schema.ts'
import type { Schema } from '../schema/schema.ts'
import type { JsonObject } from './json.ts'

/** The part of a route that a schema describes, for warnings. */
export interface Place {
  readonly route: Route
  readonly part: string
}

/** Converts the schemas of routes to JSON Schema, and warns about parts that JSON Schema cannot express. */
export interface SchemaReader {
  read(schema: Schema, direction: 'input' | 'output', place: Place): JsonObject
  warn(place: Place, reason: string): void
}

/** Makes a reader whose warnings name route, origin and path inside the schema. */
export function createSchemaReader(warn: (message: string, route: Route) => void): SchemaReader {
  function report({ route, part }: Place, reason: string): void {
    warn(`OpenAPI: ${part} of ${route.method} ${route.path} (${route.origin}): ${reason}.`, route)
  }
  return {
    read: (schema, direction, place) =>
      jsonSchemaOf(schema, direction, (path, reason) =>
        report({ ...place, part: path === '' ? place.part : `${path} in ${place.part}` }, reason),
      ),
    warn: report,
  }
}
