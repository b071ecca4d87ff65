import { STATUS_CODES } from '../errors/status-names.ts'
import type { Route } from '../routing/route.ts'
import type { JsonObject } from './json.ts'
import { problemResponse } from './problem-schemas.ts'
import { hasBody } from './request-body.ts'
import { isGuarded, policiesOf, policySentence } from './security.ts'

/** Returns the problems of a route by status: those that the framework can cause, and those of its key `problems`. */
export function problemsOf(route: Route): Record<string, JsonObject> {
  const { params, query, headers, body, problems = [] } = route.definition
  const policies = policiesOf(route)
  return {
    ...Object.fromEntries(problems.map((status) => [status, statedProblem(status)])),
    ...(hasBody(route) && {
      400: problemResponse('The body cannot be read.'),
      413: problemResponse('The body is too large.'),
      415: problemResponse('The route does not accept the media type of the body.'),
    }),
    ...(isGuarded(route) && { 401: unauthorized() }),
    ...(policies.length > 0 && {
      403: problemResponse(`A policy refused the request. ${policySentence(policies)}`),
    }),
    ...(isLimited(route) && { 429: tooManyRequests('A limit is reached.', LIMIT_HEADERS) }),
    ...((params ?? query ?? headers ?? body) && {
      422: problemResponse('The input is not valid.', 'ValidationProblem'),
    }),
  }
}

/** A problem that the handler throws, with the headers of its status, and its phrase. */
export function statedProblem(status: number): JsonObject {
  const phrase = `${STATUS_CODES[status] ?? `Status ${status}`}.`
  if (status === 401) return unauthorized()
  return status === 429 ? tooManyRequests(phrase, RETRY_AFTER) : problemResponse(phrase)
}

function isLimited({ definition: { limit }, method }: Route): boolean {
  return limit !== undefined && limit !== false && method !== 'OPTIONS'
}

const RETRY_AFTER = {
  'Retry-After': { description: 'Seconds until the next try.', schema: { type: 'integer' } },
} as const

const LIMIT_HEADERS = {
  ...RETRY_AFTER,
  RateLimit: {
    description: 'Remaining requests (r) and seconds until the reset (t).',
    schema: { type: 'string' },
  },
  'RateLimit-Policy': { description: 'Quota (q) and window in seconds (w).', schema: { type: 'string' } },
} as const

function tooManyRequests(description: string, headers: object): JsonObject {
  const { content } = problemResponse('')
  return { description, headers, content }
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
