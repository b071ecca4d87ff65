import type { DescriptionOptions, Direction, JsonSchema, OnOmission } from './json-schema-parts.ts'
import { jsonSchemaOfYup } from './yup/json-schema-yup.ts'
import { jsonSchemaOfStandard } from './json-schema-standard.ts'
import type { Schema } from './schema.ts'
import { isYup } from '../compat/yup.ts'

/**
 * Returns the JSON Schema of a schema. Parts that it cannot express become `{}`, which allows anything, and are
 * reported to `onOmission`. Never throws. Standard Schema validators provide their own (`~standard.jsonSchema`).
 */
export function jsonSchemaOf(
  schema: Schema,
  direction: Direction,
  { onOmission = ignore, refer, isRootInline = false }: DescriptionOptions = {},
): JsonSchema {
  const place = { direction, onOmission, path: '', refer }
  try {
    return isYup(schema)
      ? jsonSchemaOfYup(schema, place, isRootInline)
      : jsonSchemaOfStandard(schema, place, isRootInline)
  } catch (error) {
    onOmission('', `it cannot be described (${error instanceof Error ? error.message : String(error)})`)
    return {}
  }
}

const ignore: OnOmission = () => undefined
