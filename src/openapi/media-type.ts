import type { JsonObject } from './json.ts'

/** Returns the schema of a body that no schema describes: JSON of any form, a form, text, or bytes. */
export function rawSchemaOf(type: string): JsonObject {
  const name = type.replace(/\s*;.*$/, '').toLowerCase()
  if (/[/+]json$/.test(name) || name === '*/*') return {}
  if (FORMS.has(name)) return { type: 'object', additionalProperties: true }
  return TEXT.test(name) ? { type: 'string' } : { type: 'string', format: 'binary' }
}

const FORMS = new Set(['multipart/form-data', 'application/x-www-form-urlencoded'])

const TEXT = /^text\/|[/+](xml|yaml)$|^application\/(javascript|json-seq|jsonl|x-ndjson)$/
