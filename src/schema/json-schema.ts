import type { Schema } from './schema.ts'
export function jsonSchemaOf(_schema: Schema, _d: 'input' | 'output'): Record<string, unknown> {
  return {}
}
