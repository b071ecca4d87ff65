import { STATUS_CODES } from '../errors/status-names.ts'
import { readContent, type ResponseContent, type Route } from '../routing/route.ts'
import type { Schema } from '../schema/schema.ts'
import type { JsonObject } from './json.ts'
import { rawSchemaOf } from './media-type.ts'
import { problemsOf, statedProblem } from './problem-responses.ts'
import type { ReadSchema, SchemaReader } from './schema-reader.ts'

const WITHOUT_BODY = new Set(['204', '205', '304'])

/**
 * Without a declared success, the status is 204 for a handler that returns nothing, 200 for any other, or one that the
 * handler sets.
 */
const ANY_SUCCESS = { '2XX': { description: 'Success.' } }

/** Returns the responses of an operation by status: declared responses, and the problems that the route can cause. */
export function responsesOf(route: Route, reader: SchemaReader): JsonObject {
  const declared = declaredResponses(route, reader)
  const hasSuccess = Object.keys(declared).some((status) => Number(status) < 400)
  const all: JsonObject = hasSuccess ? declared : { ...ANY_SUCCESS, ...declared }
  for (const [status, problem] of Object.entries(problemsOf(route)))
    all[status] = merged(all[status] as JsonObject | undefined, problem)
  return all
}

function declaredResponses(route: Route, reader: SchemaReader): Record<string, JsonObject> {
  const entries = Object.entries(route.definition.response ?? {})
  return Object.fromEntries(
    entries.map(([status, entry]) => [status, declaredResponse(entry, status, { route, reader })]),
  )
}

interface Reading {
  readonly route: Route
  readonly reader: SchemaReader
}

function declaredResponse(
  entry: Schema | ResponseContent,
  status: string,
  { route, reader }: Reading,
): JsonObject {
  const { type, schema, description: own } = readContent(entry)
  const read = schema && reader.read(schema, 'output', { route, part: `response ${status}` })
  const described = read?.keywords.description
  const description = own ?? (typeof described === 'string' ? described : phraseOf(status))
  if (route.method === 'HEAD' || WITHOUT_BODY.has(status)) return { description }
  if (type !== undefined)
    return { description, content: { [type]: { schema: read?.schema ?? rawSchemaOf(type) } } }
  if (read !== undefined) return { description, content: contentOf(read, Number(status)) }
  return Number(status) < 400 ? { description } : { ...statedProblem(Number(status)), description }
}

/**
 * A string is sent as text, an error as a problem, anything else as JSON. A date is an object until it is serialised.
 */
function contentOf({ schema, keywords }: ReadSchema, status: number): JsonObject {
  const isDate = keywords.format === 'date-time' || keywords.format === 'date'
  if (keywords.type === 'string' && !isDate) return { 'text/plain': { schema } }
  return { [status < 400 ? 'application/json' : 'application/problem+json']: { schema } }
}

function phraseOf(status: string): string {
  return `${STATUS_CODES[status] ?? `Status ${status}`}.`
}

/** A response that the route declares replaces the framework's problem of the same status. */
function merged(declared: JsonObject | undefined, problem: JsonObject): JsonObject {
  if (!declared) return problem
  const content = { ...(problem.content as JsonObject), ...(declared.content as JsonObject) }
  return { ...problem, ...declared, content }
}
