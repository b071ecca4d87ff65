import type { Method, RouteDefinition } from './route.ts'
import { isSize } from '../support/bytes.ts'
import { isTimeout, TIME_LIMIT } from '../support/duration.ts'
import { formLimits } from '../support/form-limits.ts'
import { nearest } from '../support/nearest.ts'
import { describeValue, isPlainObject } from '../support/describe-value.ts'
import { checkContent, isMediaType } from './check-content.ts'
import { checkLimit } from './check-limit.ts'
import { checkSchema, isSchema } from './check-schema.ts'
import { listWords } from '../support/list-words.ts'
import type { Finding } from './finding.ts'

/** The endpoint of a definition. `parameters` is undefined if the path is invalid. */
export interface Endpoint {
  readonly method: Method
  readonly parameters: readonly string[] | undefined
  /** Protocol that the name of the file demands. */
  readonly protocol?: string | undefined
}

type Key = keyof RouteDefinition
type Check = (key: Key, value: unknown, endpoint: Endpoint) => Finding[]

const CHECKS: Readonly<Record<Key, Check>> = {
  params: checkParams,
  query: checkFields,
  headers: checkHeaders,
  body: checkBody,
  response: checkResponse,
  problems: expectList('a list of statuses from 400 to 599 such as [404, 409]', isErrorStatus),
  auth: checkAuth,
  limit: checkLimit,
  summary: expectValue('a string', isString),
  description: expectValue('a string', isString),
  tags: expectList('an array of strings', isString),
  operationId: expectValue('a string', isString),
  hidden: expectValue('a boolean', isBoolean),
  bodyLimit: expectValue("a number of bytes or a size such as '2mb'", isSize),
  handlerTimeout: expectValue(TIME_LIMIT, isTimeout),
  logRequests: expectValue('a boolean', isBoolean),
  multipart: checkMultipart,
  consumes: expectList(
    "an array of media types such as 'application/json'",
    (value) => isString(value) && isMediaType(value),
  ),
  rawBody: checkRawBody,
}

/** The keys of a route definition, for the checks of route modules. */
export const DEFINITION_KEYS = Object.keys(CHECKS) as readonly Key[]

/**
 * Finds every fault in the values of a definition. A key with the value `undefined` is also a fault: an `auth` that is
 * undefined by mistake must not make a route public.
 */
export function checkDefinition(
  definition: Readonly<Record<string, unknown>>,
  endpoint: Endpoint,
): Finding[] {
  return DEFINITION_KEYS.filter((key) => key in definition).flatMap((key) =>
    CHECKS[key](key, definition[key], endpoint),
  )
}

function checkParams(key: Key, value: unknown, { parameters }: Endpoint): Finding[] {
  const finding = checkFields(key, value)
  if (finding.length > 0 || parameters === undefined) return finding
  return fieldsOf(value as object)
    .filter((field) => !parameters.includes(field))
    .map((field) => ({
      code: 'MORTAR_ROUTE_PARAMS_KEY',
      found: `has "${field}" in its \`params\` schema, which is not in the path`,
      remedy: paramsRemedy(field, parameters),
    }))
}

/** Types of schemas that no object matches. */
const NO_OBJECT: ReadonlySet<unknown> = new Set(['string', 'number', 'boolean', 'date', 'array', 'tuple'])

/** Checks a schema of values with names: one for a single value would refuse every request. */
function checkFields(key: Key, value: unknown): Finding[] {
  const finding = checkSchema(key, value)
  if (finding.length > 0) return finding
  const { type } = value as { readonly type?: unknown }
  if (!NO_OBJECT.has(type)) return []
  return [
    {
      code: 'MORTAR_ROUTE_SCHEMA',
      found: `has a schema of the type ${String(type)} as \`${key}\`, which no request matches`,
      remedy: `Give each value a name: \`${key}: object({ name: … })\`.`,
    },
  ]
}

/** Node gives the names in lower case, so a required key in upper case would refuse every request. */
function checkHeaders(key: Key, value: unknown): Finding[] {
  const finding = checkFields(key, value)
  if (finding.length > 0) return finding
  return fieldsOf(value as object)
    .filter((field) => field !== field.toLowerCase())
    .map((field) => ({
      code: 'MORTAR_ROUTE_HEADERS_KEY',
      found: `has "${field}" in its \`headers\` schema, which matches no request`,
      remedy: `Write "${field.toLowerCase()}": Node gives the names of headers in lower case.`,
    }))
}

function paramsRemedy(field: string, parameters: readonly string[]): string {
  if (parameters.length === 0) return 'Its path has no parameter: a query parameter belongs in `query`.'
  const near = nearest(field, parameters)
  const names = listWords(parameters.map((name) => `"${name}"`))
  return near === undefined ? `The path has ${names}.` : `Did you mean "${near}"? The path has ${names}.`
}

/** Returns the keys of an object schema: `fields` of yup, `shape` of zod; undefined for other validators. */
function fieldsOf(schema: object): string[] {
  const fields = 'fields' in schema ? schema.fields : 'shape' in schema ? schema.shape : undefined
  return isPlainObject(fields) ? Object.keys(fields) : []
}

function checkBody(key: Key, value: unknown, { method }: Endpoint): Finding[] {
  if (method !== 'GET' && method !== 'HEAD') return checkSchema(key, value)
  return [bodyNotAllowed('a `body` schema', method)]
}

function checkRawBody(key: Key, value: unknown, endpoint: Endpoint): Finding[] {
  const { method } = endpoint
  if (value === true && (method === 'GET' || method === 'HEAD')) return [bodyNotAllowed('`rawBody`', method)]
  return expectValue('a boolean', isBoolean)(key, value, endpoint)
}

function bodyNotAllowed(key: string, method: Method): Finding {
  return {
    code: 'MORTAR_ROUTE_BODY_NOT_ALLOWED',
    found: `has ${key}, but the body of a ${method} request has no meaning (RFC 9110 §9.3)`,
    remedy: 'Declare the input in `query`, or use POST.',
  }
}

function checkResponse(key: Key, value: unknown): Finding[] {
  const remedy = 'Write the status in front of each schema: `response: { 200: schema }`.'
  if (!isPlainObject(value) || isSchema(value))
    return [
      {
        code: 'MORTAR_ROUTE_RESPONSE',
        found: `has ${isSchema(value) ? 'a schema' : describeValue(value)} as \`${key}\``,
        remedy,
      },
    ]
  return Object.entries(value).flatMap(([status, schema]): Finding[] =>
    /^[1-5]\d\d$/.test(status)
      ? checkContent(`response[${status}]`, schema, Number(status))
      : [
          {
            code: 'MORTAR_ROUTE_RESPONSE',
            found: `has "${status}" in \`response\`, which is not a status from 100 to 599`,
            remedy,
          },
        ],
  )
}

function checkAuth(_key: Key, value: unknown): Finding[] {
  const isName = (name: unknown) => isString(name) && name.trim() !== ''
  if (typeof value === 'boolean' || isName(value)) return []
  if (Array.isArray(value) && value.length > 0 && value.every(isName)) return []
  return [
    {
      code: 'MORTAR_ROUTE_AUTH_SHAPE',
      found: Array.isArray(value)
        ? `has ${describeValue(value)} as \`auth\`, which is not a list of policy names`
        : `has ${describeValue(value)} as \`auth\``,
      remedy:
        "Write true for any signed-in user, 'name' for a policy, ['a', 'b'] for several, or false for everybody.",
    },
  ]
}

function checkMultipart(_key: Key, value: unknown): Finding[] {
  try {
    formLimits(value ?? null)
    return []
  } catch (error) {
    return [
      {
        code: 'MORTAR_ROUTE_VALUE',
        found: `has \`multipart\` with a setting that cannot be used: ${(error as Error).message.slice(0, -1)}`,
        remedy:
          'Write maxFields, maxFiles, maxFileSize and maxHeaderSize as numbers or sizes, and folder as a path; each is optional.',
      },
    ]
  }
}

function expectValue(expected: string, isValid: (value: unknown) => boolean): Check {
  return (key, value) =>
    isValid(value)
      ? []
      : [
          {
            code: 'MORTAR_ROUTE_VALUE',
            found: `has ${describeValue(value)} as \`${key}\``,
            remedy: `\`${key}\` is ${expected}.`,
          },
        ]
}

/** Expects a list, and names the first item that is wrong. */
function expectList(expected: string, isItem: (value: unknown) => boolean): Check {
  return (key, value, endpoint) => {
    if (!Array.isArray(value)) return expectValue(expected, () => false)(key, value, endpoint)
    const index = value.findIndex((item) => !isItem(item))
    if (index === -1) return []
    const wrong: unknown = value[index]
    const what = typeof wrong === 'number' ? String(wrong) : describeValue(wrong)
    return [
      {
        code: 'MORTAR_ROUTE_VALUE',
        found: `has ${what} in \`${key}\``,
        remedy: `\`${key}\` is ${expected}.`,
      },
    ]
  }
}

function isBoolean(value: unknown): boolean {
  return typeof value === 'boolean'
}

function isString(value: unknown): value is string {
  return typeof value === 'string'
}

function isErrorStatus(value: unknown): boolean {
  return Number.isInteger(value) && Number(value) >= 400 && Number(value) <= 599
}
