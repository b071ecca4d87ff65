import { isAscii, isUtf8 } from 'node:buffer'
import { BadRequest, PayloadTooLarge, UnsupportedMediaType } from '../errors/http-error.ts'
import { StartupError } from '../errors/startup-error.ts'
import type { RequestContext } from '../context/request-context.ts'
import { describeRoute, type Route } from '../routing/route.ts'
import { announcesBody } from '../support/announces-body.ts'
import { bytes } from '../support/bytes.ts'
import { matchesType } from '../support/media-type.ts'
import { parseQuery } from '../support/parse-query.ts'
import type { Inner, PipelineRuntime, Step } from './step.ts'
import { formOf, type FormOfRoute } from './multipart/form-of-route.ts'
import { preparationOf } from './multipart/prepare-forms.ts'
import { parseForm } from './parse-form.ts'
import { parseJson } from './parse-json.ts'
import { clientLeft, isAnnouncedTooLarge, readBytes, tooLarge } from './read-bytes.ts'
import { mayHaveOddEscapes } from './refuse-odd-text.ts'

const WITH_BODY = new Set(['POST', 'PUT', 'PATCH', 'DELETE'])

/** Turns the bytes of a body into the value of `ctx.body`. */
type Decode = (content: Buffer, rules: BodyRules, ctx: RequestContext) => unknown

/**
 * Reads the body of a request: JSON, urlencoded, multipart, text or raw bytes. It runs after the guard, so that a
 * client without permission cannot make the server read. A route with an empty `consumes` does not read the body.
 */
export function readBody(route: Route, runtime: PipelineRuntime): Step | undefined {
  const { body, consumes, rawBody } = route.definition
  if (rawBody !== true && ((body === undefined && !WITH_BODY.has(route.method)) || consumes?.length === 0))
    return undefined
  const limit = limitOf(route, runtime)
  const { accepted, form, maxFields } = formOf(route, runtime, limit)
  if (form !== undefined) runtime.preloads.add(preparationOf(form.folder))
  const strict = body !== undefined || consumes !== undefined
  const rules: BodyRules = {
    limit,
    strict,
    onUnread: strict || runtime.environment === 'production' ? undefined : warnOfUnread(route),
    accepted,
    form,
    maxFields,
  }
  if (rawBody === true) return keepRawBody(route, rules)
  return (inner) =>
    function parseBody(ctx) {
      const { req, outer } = ctx.internal
      if (!announcesBody(req)) return inner(ctx)
      if (!req.readableDidRead || (!req.readableEnded && outer?.takeBody() === undefined))
        return read(ctx, rules, inner)
      takeParsed(ctx)
      return inner(ctx)
    }
}

interface BodyRules extends FormOfRoute {
  readonly limit: number
  /** True to refuse a body of another media type with 415; false to leave it unread. */
  readonly strict: boolean
  /** Called with the media type of a body that is left unread, '' if it has none. Undefined in production. */
  readonly onUnread: ((ctx: RequestContext, type: string) => void) | undefined
}

function read(ctx: RequestContext, rules: BodyRules, inner: Inner): unknown {
  const { limit, strict, accepted, form } = rules
  const { headers, destroyed } = ctx.internal.req
  if (destroyed) throw clientLeft()
  const type = mediaType(headers['content-type'])
  const decode =
    accepted && !accepted.some((pattern) => matchesType(pattern, type)) ? undefined : decoderOf(type)
  if (!decode) {
    if (strict) return refuseType(type, accepted)
    rules.onUnread?.(ctx, type)
    return inner(ctx)
  }
  if (decode === 'form' && !form) return refuseType(type, accepted)
  if (isAnnouncedTooLarge(headers, limit)) throw tooLarge(limit)
  if (decode === 'form')
    return parseForm(ctx, form!).then(function parseBody(body) {
      ctx.body = body
      return inner(ctx)
    })
  if (decode !== asBytes) refuseForeignCharset(headers['content-type'])
  return readBytes(ctx, limit, function parseBody(content) {
    ctx.body = decode(content, rules, ctx)
    return inner(ctx)
  })
}

/**
 * The step of a route with `rawBody`: reads a body of any type and keeps its bytes. Without `body` and `consumes`,
 * `ctx.body` of an unknown type is undefined.
 * @throws StartupError `MORTAR_RAW_BODY` if the route reads forms or no body.
 */
function keepRawBody(route: Route, rules: BodyRules): Step {
  refuseRawBody(route, rules)
  return (inner) =>
    function parseRawBody(ctx) {
      if (ctx.internal.req.readableDidRead) throw new Error(readBefore(route))
      return announcesBody(ctx.internal.req) ? readRaw(ctx, rules, inner) : inner(withRaw(ctx, NO_BYTES))
    }
}

const NO_BYTES = Buffer.alloc(0)

function readRaw(ctx: RequestContext, rules: BodyRules, inner: Inner): unknown {
  const { limit, strict, accepted } = rules
  const { headers, destroyed } = ctx.internal.req
  if (destroyed) throw clientLeft()
  const type = mediaType(headers['content-type'])
  const isAccepted = accepted?.some((pattern) => matchesType(pattern, type)) ?? true
  const known = isAccepted ? decoderOf(type) : undefined
  const decode = known === 'form' ? undefined : known
  if (!isAccepted || (strict && !decode)) return refuseType(type, accepted)
  if (isAnnouncedTooLarge(headers, limit)) throw tooLarge(limit)
  if (decode && decode !== asBytes) refuseForeignCharset(headers['content-type'])
  return readBytes(ctx, limit, function parseRawBody(content) {
    ctx.body = decode?.(content, rules, ctx)
    return inner(withRaw(ctx, content))
  })
}

/** Not a field of the class, so that other requests do not pay for it. */
function withRaw(ctx: RequestContext, rawBody: Buffer): RequestContext {
  return Object.assign(ctx, { rawBody })
}

function refuseRawBody(route: Route, { form }: BodyRules): void {
  const fault = form ? 'reads multipart forms, which are not kept in memory' : 'an empty `consumes`'
  if (form === undefined && route.definition.consumes?.length !== 0) return
  throw new StartupError(`${describeRoute(route)} has \`rawBody\` and ${fault}.`, {
    code: 'MORTAR_RAW_BODY',
    remedy: 'Remove `rawBody`, or accept other media types.',
    files: [route.origin],
  })
}

function readBefore(route: Route): string {
  return `${describeRoute(route)} declares \`rawBody\`, but a middleware has read the body before. Exclude this path from that body parser.`
}

/** Uses the body that Koa middleware, such as koa-bodyparser in `fromKoa`, has already read. */
function takeParsed(ctx: RequestContext): void {
  const body = ctx.internal.outer?.takeBody()
  if (body === undefined)
    throw new Error('A middleware read the request body but set no value in ctx.koa.request.body.')
  ctx.body = body
}

/** Returns the decoder of a media type. A multipart form is read part by part, other bodies as a whole. */
function decoderOf(type: string): Decode | 'form' | undefined {
  if (type === JSON_TYPE || type.endsWith('+json')) return asJson
  if (type === 'application/x-www-form-urlencoded') return asFields
  if (type === 'multipart/form-data') return 'form'
  if (type.startsWith('text/')) return asText
  return type === 'application/octet-stream' ? asBytes : undefined
}

const JSON_TYPE = 'application/json'
const asBytes: Decode = (content) => content

const asJson: Decode = (content, _rules, ctx) => {
  const text = asText(content)
  ctx.internal.isBodyPlain = !mayHaveOddEscapes(text)
  return parseJson(text)
}

function asFields(content: Buffer, { maxFields }: BodyRules): unknown {
  const fields = parseQuery(asText(content), maxFields)
  if (fields === undefined)
    throw new PayloadTooLarge(
      `The form has more than ${maxFields} ${maxFields === 1 ? 'field' : 'fields'}.`,
      { code: 'too_many_fields' },
    )
  return Object.fromEntries(Object.entries(fields).filter(([name]) => name !== '__proto__'))
}

/** Refuses invalid UTF-8: replacement characters would be stored as if the client had sent them. */
function asText(content: Buffer): string {
  if (isAscii(content)) return content.toString('latin1')
  if (!isUtf8(content)) throw new BadRequest('The body is not valid UTF-8.', { code: 'malformed_body' })
  return content.toString('utf8')
}

/**
 * Refuses charsets other than UTF-8. JSON (RFC 8259 §8.1) and forms (WHATWG URL §5) are UTF-8; other text would be
 * misread.
 */
function refuseForeignCharset(header: string | undefined): void {
  if (header === undefined || header === JSON_TYPE) return
  const charset = /;\s*charset="?([^";\s]+)/i.exec(header)?.[1]?.toLowerCase()
  if (charset && charset !== 'utf-8' && charset !== 'utf8' && charset !== 'us-ascii')
    throw new UnsupportedMediaType(`The charset '${charset}' is not supported. Send UTF-8.`)
}

function mediaType(header: string | undefined): string {
  if (header === undefined || header === JSON_TYPE) return header ?? ''
  return header.split(';', 1)[0]!.trim().toLowerCase()
}

function refuseType(type: string, accepted: readonly string[] | undefined): never {
  const found =
    type === '' ? 'The body has no Content-Type' : `The media type '${type}' is not supported by this route`
  const readable = accepted ?? ['application/json', 'application/x-www-form-urlencoded', 'text/*']
  throw new UnsupportedMediaType(`${found}; send ${readable.join(', ')}.`, {
    headers: { Accept: readable.join(', ') },
  })
}

function limitOf(route: Route, runtime: PipelineRuntime): number {
  try {
    return route.definition.bodyLimit === undefined ? runtime.bodyLimit : bytes(route.definition.bodyLimit)
  } catch (cause) {
    throw new StartupError(`${describeRoute(route)} has a bodyLimit that is not a size.`, {
      code: 'MORTAR_BODY_LIMIT',
      remedy: "Write a number of bytes or a size such as '2mb'.",
      files: [route.origin],
      cause,
    })
  }
}

/**
 * Makes the warning, once per route, of a body that the framework cannot read, where the route declares neither `body`
 * nor `consumes`: `ctx.body` is then undefined.
 */
function warnOfUnread(route: Route): (ctx: RequestContext, type: string) => void {
  let isDue = true
  return (ctx, type) => {
    if (!isDue) return
    isDue = false
    const found = type === '' ? 'without Content-Type' : `of the media type '${type}'`
    ctx.log.warn(
      `${describeRoute(route)} got a body ${found}, which is not read, so ctx.body is undefined. Send it as ` +
        'application/json. If the route reads no body, or reads ctx.koa.req itself, declare `consumes: []`.',
    )
  }
}
