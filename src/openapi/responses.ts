import { STATUS_CODES } from '../errors/status-names.ts'
import { readContent, type Route } from '../routing/route.ts'
import type { JsonObject } from './json.ts'
import { problemResponse } from './problem-schemas.ts'
import { hasBody } from './request-body.ts'
import type { SchemaReader } from './schema-reader.ts'
import { isGuarded, policiesOf, policySentence } from './security.ts'

const WITHOUT_BODY = new Set(['204', '205', '304'])

/** Returns the responses of an operation by status: declared responses, and the problems that the route can cause. */
export function responsesOf(route: Route, reader: SchemaReader): JsonObject {
  const declared = declaredResponses(route, reader)
  const hasSuccess = Object.keys(declared).some((status) => Number(status) < 400)
  const all: JsonObject = hasSuccess ? declared : { 200: { description: 'Success.' }, ...declared }
  for (const [status, problem] of Object.entries(problemsOf(route)))
    all[status] = merged(all[status] as JsonObject | undefined, problem)
  return all
}

function declaredResponses(route: Route, reader: SchemaReader): Record<string, JsonObject> {
  const entries = Object.entries(route.definition.response ?? {}).map(([status, entry]) => {
    const { type, schema, description: own } = readContent(entry)
    const body = schema
      ? reader.read(schema, 'output', { route, part: `response ${status}` })
      : rawSchema(type)
    const described = typeof body.description === 'string' ? body.description : phraseOf(status)
    const description = own ?? described
    const isBare = route.method === 'HEAD' || WITHOUT_BODY.has(status)
    return [
      status,
      isBare
        ? { description }
        : {
            description,
            content: type === undefined ? contentOf(body, Number(status)) : { [type]: { schema: body } },
          },
    ] as const
  })
  return Object.fromEntries(entries)
}

/** A body that is sent unchanged: text, JSON of any form, or bytes. */
function rawSchema(type = ''): JsonObject {
  if (/[/+]json\b/i.test(type)) return {}
  return /^text\//i.test(type) ? { type: 'string' } : { type: 'string', format: 'binary' }
}

/**
 * A string is sent as text, an error as a problem, anything else as JSON. A date is an object until it is serialised.
 */
function contentOf(schema: JsonObject, status: number): JsonObject {
  const isText = schema.type === 'string' && schema.format !== 'date-time' && schema.format !== 'date'
  if (isText) return { 'text/plain': { schema } }
  return { [status < 400 ? 'application/json' : 'application/problem+json']: { schema } }
}

function phraseOf(status: string): string {
  return `${STATUS_CODES[status] ?? `Status ${status}`}.`
}

function problemsOf(route: Route): Record<string, JsonObject> {
  const { params, query, headers, body } = route.definition
  const policies = policiesOf(route)
  return {
    ...(hasBody(route) && {
      400: problemResponse('The body cannot be read.'),
      413: problemResponse('The body is too large.'),
      415: problemResponse('The route does not accept the media type of the body.'),
    }),
    ...(isGuarded(route) && { 401: unauthorized() }),
    ...(policies.length > 0 && {
      403: problemResponse(`A policy refused the request. ${policySentence(policies)}`),
    }),
    ...(isLimited(route) && { 429: tooManyRequests() }),
    ...((params ?? query ?? headers ?? body) && {
      422: problemResponse('The input is not valid.', 'ValidationProblem'),
    }),
  }
}

function isLimited({ definition: { limit }, method }: Route): boolean {
  return limit !== undefined && limit !== false && method !== 'OPTIONS'
}

const LIMIT_HEADERS = {
  'Retry-After': { description: 'Seconds until the next try.', schema: { type: 'integer' } },
  RateLimit: {
    description: 'Remaining requests (r) and seconds until the reset (t).',
    schema: { type: 'string' },
  },
  'RateLimit-Policy': { description: 'Quota (q) and window in seconds (w).', schema: { type: 'string' } },
} as const

function tooManyRequests(): JsonObject {
  const { content } = problemResponse('')
  return { description: 'A limit is reached.', headers: LIMIT_HEADERS, content }
}

function unauthorized(): JsonObject {
  const description = 'The scheme to sign in with (RFC 6750 §3).'
  const { content } = problemResponse('')
  return {
    description: 'No valid credential.',
    headers: { 'WWW-Authenticate': { description, schema: { type: 'string' } } },
    content,
  }
}

/** A response that the route declares replaces the framework's problem of the same status. */
function merged(declared: JsonObject | undefined, problem: JsonObject): JsonObject {
  if (!declared) return problem
  const content = { ...(problem.content as JsonObject), ...(declared.content as JsonObject) }
  return { ...problem, ...declared, content }
}
