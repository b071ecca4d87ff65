import { describeRoute, type Route } from '../routing/route.ts'
import { jsonSchemaOf } from '../schema/json-schema.ts'
import type { OnOmission } from '../schema/json-schema-parts.ts'
import type { Schema } from '../schema/schema.ts'
import type { Place } from './component.ts'
import { createComponents } from './components.ts'
import type { JsonObject } from './json.ts'

/** A schema as the document has it, and its own keywords where that is a reference. */
export interface ReadSchema {
  readonly schema: JsonObject
  readonly keywords: JsonObject
}

/** Converts the schemas of routes to JSON Schema, and warns about parts that JSON Schema cannot express. */
export type SchemaReader = ReturnType<typeof createSchemaReader>

/** Makes a reader whose warnings name route, origin and path inside the schema. */
export function createSchemaReader(warn: (message: string, route: Route) => void) {
  const components = createComponents()
  function report({ route, part }: Place, reason: string): void {
    warn(`OpenAPI: ${part} of ${describeRoute(route)}: ${reason}.`, route)
  }
  const describe = (
    schema: Schema,
    direction: 'input' | 'output',
    { place, isRootInline = false }: { place: Place; isRootInline?: boolean },
  ): JsonObject => {
    const onOmission: OnOmission = (path, reason) =>
      report({ ...place, part: path === '' ? place.part : `${path} in ${place.part}` }, reason)
    return jsonSchemaOf(schema, direction, {
      onOmission,
      isRootInline,
      refer: (labelled, way, whenOmitted) =>
        components.refer(labelled, way, { place, onOmission: whenOmitted }),
    })
  }
  return {
    /** Describes a schema; labelled schemas become references. */
    read(schema: Schema, direction: 'input' | 'output', place: Place) {
      const described = describe(schema, direction, { place })
      const isReference = '$ref' in described || 'anyOf' in described
      return { schema: described, keywords: isReference ? jsonSchemaOf(schema, direction) : described }
    },
    /** Describes an input object in place, with references only below its keys. */
    readFields: (schema: Schema, place: Place) => describe(schema, 'input', { place, isRootInline: true }),
    /** Names the references of the document's parts. */
    finish: (parts: JsonObject) => components.finish(parts, report),
    warn: report,
  }
}
