import { nearest } from '../support/nearest.ts'
import { checkSchema, isSchema } from './check-schema.ts'
import { describeValue, isPlainObject } from '../support/describe-value.ts'
import type { Finding } from './finding.ts'

const WITHOUT_BODY = new Set([204, 205])

const KEYS = ['type', 'schema', 'description']

/** Names of the media type in other frameworks. */
const NEAR_TYPE = new Set(['content', 'contenttype', 'content-type', 'mediatype', 'mime', 'mimetype'])

/**
 * Checks one entry of `response`: a schema, or an object with a media type, a schema, or both. A status without a body
 * needs neither, nor do a redirect and an error, which is a problem then.
 */
export function checkContent(key: string, value: unknown, status: number): Finding[] {
  if (isSchema(value) || !isPlainObject(value)) return checkSchema(key, value)
  const names = Object.keys(value)
  const looksLikeContent = names.every((name) => KEYS.includes(name) || nearKey(name) !== undefined)
  if (!looksLikeContent && value.type === undefined && value.schema === undefined)
    return checkSchema(key, value)
  const unknown = names.filter((name) => !KEYS.includes(name)).map((name) => unknownKey(key, name))
  const needsBody = unknown.length === 0 && status < 300 && !WITHOUT_BODY.has(status)
  return [...unknown, ...checkValues(key, value, needsBody)]
}

/** True for a complete media type without parameters. */
export function isMediaType(value: unknown): value is string {
  return typeof value === 'string' && /^[^\s/]+\/[^\s/]+$/.test(value)
}

function nearKey(name: string): string | undefined {
  return NEAR_TYPE.has(name.toLowerCase()) ? 'type' : nearest(name, KEYS)
}

function unknownKey(key: string, name: string): Finding {
  const near = nearKey(name)
  const remedy =
    near === undefined ? 'Its keys are `type`, `schema` and `description`.' : `Did you mean "${near}"?`
  return finding(`has "${name}" in \`${key}\`, which is not a key of a response`, remedy)
}

function checkValues(
  key: string,
  { type, schema, description }: Readonly<Record<string, unknown>>,
  needsBody: boolean,
): Finding[] {
  const findings: Finding[] = []
  if (type === undefined && schema === undefined && needsBody)
    findings.push(
      finding(
        `has neither \`type\` nor \`schema\` in \`${key}\``,
        "Write a schema, or a media type: `{ type: 'text/csv' }`. A response without a body is 204: {}.",
      ),
    )
  if (type !== undefined && !(typeof type === 'string' && isMediaType(type.replace(/\s*;.*$/, ''))))
    findings.push(
      finding(
        `has ${describeValue(type)} as \`type\` in \`${key}\`, which is not a media type`,
        "Write it in full, such as 'text/csv'.",
      ),
    )
  if (description !== undefined && typeof description !== 'string')
    findings.push(
      finding(`has ${describeValue(description)} as \`description\` in \`${key}\``, 'Write a string.'),
    )
  return schema === undefined ? findings : [...findings, ...checkSchema(`${key}.schema`, schema)]
}

function finding(found: string, remedy: string): Finding {
  return { code: 'MORTAR_ROUTE_RESPONSE', found, remedy }
}
