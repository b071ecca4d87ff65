import { SERIALIZE_EVENTS, type Outgoing, type SerializeData } from '../context/outgoing.ts'
import type { RequestContext } from '../context/request-context.ts'
import { HttpError } from '../errors/http-error.ts'
import { describeRoute, readContent, type Route } from '../routing/route.ts'
import { Invalid } from '../schema/invalid.ts'
import { compileSerializer, type Serializer } from '../schema/serializer.ts'
import { findUnsendable, jsonText, namingRoute } from '../schema/unsendable.ts'
import { JSON_TYPE, refuseHidden, refuseUnsendable, TEXT_TYPE } from './render.ts'
import { isLiteral, renderRaw } from './render-raw.ts'
import type { PipelineRuntime } from './step.ts'

type Rendered = Outgoing | Promise<Outgoing>

/** The content of a status that a route declares, for `renderDeclared`. */
export interface Declared {
  readonly status: number
  /** Media type with charset; undefined if the value decides, as for a pattern such as `image/*`. */
  readonly type: string | undefined
  readonly serialize: Serializer | undefined
  /** The declared media type if it is not JSON. */
  readonly notJson: string | undefined
  readonly runtime: PipelineRuntime
  readonly route: Route
  readonly schema: unknown
}

/** Compiles one entry of `response`. A status without an entry has that of 200. */
export function compileContent(route: Route, status: number, runtime: PipelineRuntime): Declared {
  const response = route.definition.response!
  const { type, schema } = readContent(response[status] ?? response[200]!)
  const takesJson = type === undefined || /[/+]json\b|^(?:\*|application)\/\*/i.test(type)
  return {
    status,
    type: type === undefined || type.includes('*') ? undefined : withCharset(type),
    serialize: schema && compileSerializer(schema),
    notJson: takesJson ? undefined : type,
    runtime,
    route,
    schema,
  }
}

/**
 * Renders a value for a status that the route declares. Values that are sent unchanged pass. Any other value goes through
 * the schema and must fit the declared media type: a string fits every type, other values only JSON.
 */
export function renderDeclared(ctx: RequestContext, value: unknown, declared: Declared): Rendered {
  const { serialize, notJson } = declared
  if (typeof value === 'object' && value !== null) {
    const raw = rawOf(ctx, value, declared)
    if (raw) return raw
  }
  if (value === undefined || (value === null && serialize === undefined)) throw returnedNothing(declared)
  if (notJson !== undefined && typeof value !== 'string') throw unsuited(declared, value, notJson)
  return validated(declared, value)
}

function rawOf(ctx: RequestContext, value: object, declared: Declared): Outgoing | undefined {
  const { status, type } = declared
  if (isLiteral(value)) return undefined
  if (SERIALIZE_EVENTS in value && declared.serialize !== undefined)
    validateEvents(value as Validated, declared)
  const raw = renderRaw(ctx, status, value)
  if (raw === undefined) refuseUnsendable(value)
  return raw === undefined || type === undefined ? raw : { ...raw, type }
}

interface Validated {
  [SERIALIZE_EVENTS](serialize: SerializeData): void
}

/** Sends the data of each event through the schema. */
function validateEvents(events: Validated, declared: Declared): void {
  events[SERIALIZE_EVENTS](async (data) => {
    const text = await declared.serialize!(data)
    if (text instanceof Invalid) throw mismatch(declared, text, data)
    return typeof data === 'string' ? (JSON.parse(text) as string) : text
  })
}

function validated(declared: Declared, value: unknown): Rendered {
  const text = declared.serialize ? declared.serialize(value) : jsonText(value)
  if (declared.runtime.environment !== 'production' && !(text instanceof Invalid))
    refuseHiddenOf(declared, value)
  return text instanceof Promise
    ? text.then((settled) => outgoingOf(declared, settled, value))
    : outgoingOf(declared, text, value)
}

/** Names the route in the error for a value that the schema passes and JSON cannot express. */
function refuseHiddenOf({ route, schema }: Declared, value: unknown): void {
  try {
    refuseHidden(value, schema)
  } catch (error) {
    throw namingRoute(error, describeRoute(route))
  }
}

function outgoingOf(declared: Declared, text: string | Invalid, value: unknown): Outgoing {
  const { status, type } = declared
  if (text instanceof Invalid) throw mismatch(declared, text, value)
  return typeof value === 'string' && !(type !== undefined && /[/+]json\b/i.test(type))
    ? { status, type: type ?? TEXT_TYPE, payload: JSON.parse(text) as string }
    : { status, type: type ?? JSON_TYPE, payload: text }
}

/** Adds `charset=utf-8` to textual media types. */
function withCharset(type: string): string {
  return /^text\/|^application\/json$/i.test(type) && !/;\s*charset=/i.test(type)
    ? `${type}; charset=utf-8`
    : type
}

/** The error for an invalid value, which is never sent. Only outside production the response lists the faults. */
function mismatch({ route, status, runtime, schema }: Declared, invalid: Invalid, value: unknown): HttpError {
  const hidden = findUnsendable(value, schema)
  const issues = hidden
    ? [{ path: hidden.path, message: `${hidden.path || 'it'} is ${hidden.kind}. ${hidden.remedy}` }]
    : invalid.issues
  const list = issues.map(({ path, message }) => `${path || 'value'}: ${message}`).join('; ')
  const reason = `The response of ${describeRoute(route)} does not match the schema for ${status}: ${list}`
  return refusal(runtime, reason, { errors: issues })
}

function returnedNothing({ route, status, runtime }: Declared): HttpError {
  const reason = `The handler of ${describeRoute(route)} returned nothing, and \`response\` declares a body for ${status}. Is a \`return\` missing? For an empty response set ctx.status = 204.`
  return refusal(runtime, reason)
}

function unsuited({ route, status, runtime }: Declared, value: unknown, type: string): HttpError {
  const kind = Array.isArray(value)
    ? 'an array'
    : typeof value === 'object'
      ? 'an object'
      : `a ${typeof value}`
  const reason = `The handler of ${describeRoute(route)} returned ${kind}, and \`response\` declares ${type} for ${status}. Return a string, bytes or a stream.`
  return refusal(runtime, reason)
}

function refusal({ environment }: PipelineRuntime, reason: string, extensions: object = {}): HttpError {
  const code = 'response_mismatch'
  return environment === 'production'
    ? new HttpError(500, 'The server failed to process this request.', { code, cause: new Error(reason) })
    : new HttpError(500, reason, { code, extensions: { ...extensions } })
}
