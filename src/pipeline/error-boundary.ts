import type { ServerResponse } from 'node:http'
import { describeError, statusHint } from '../errors/describe-error.ts'
import { PROBLEM_CODES, type ProblemCode } from '../errors/codes.ts'
import { type HttpError, isHttpError, MethodNotAllowed, NotFound } from '../errors/http-error.ts'
import { PROBLEM_TYPE, problemOfCode, problemStatus, problemText } from '../errors/problem.ts'
import type { RequestContext } from '../context/request-context.ts'
import { asHttpError, headersOfKoa } from '../context/thrown.ts'
import { ignore } from '../support/ignore.ts'
import type { PipelineRuntime } from './step.ts'
import { isUnavailable } from './unavailable.ts'

/** Headers that describe the body that will not be sent. All others survive an error, except a lifetime in caches. */
const BODY_HEADERS = [
  'Content-Type',
  'Content-Length',
  'Content-Encoding',
  'Content-Disposition',
  'Content-Range',
  'Transfer-Encoding',
  'Trailer',
  'ETag',
  'Last-Modified',
]

/**
 * Turns a thrown value into a response, for every request. Never throws: if rendering the error throws (a failing
 * getter, an invalid header), that second error is rendered instead.
 */
export function fail(ctx: RequestContext, thrown: unknown, runtime: PipelineRuntime): void {
  if (!isUnmatched(ctx, thrown)) ctx.internal.runtime.emitError(ctx, thrown)
  let error = thrown
  for (let failures = 0; failures < 3; failures++)
    try {
      return answer(ctx, error, runtime)
    } catch (second) {
      error = failures === 0 ? second : new Error('The thrown value cannot be rendered.')
    }
  ctx.internal.res.destroy()
}

function answer(ctx: RequestContext, thrown: unknown, runtime: PipelineRuntime): void {
  const { res, adapter, outer } = ctx.internal
  outer?.drop()
  const error = runtime.explainError(asHttpError(thrown))
  const status = problemStatus(error)
  const payload = problemText(error, ctx.id, {
    exposeUnexpected: runtime.environment !== 'production',
    problems: runtime.problems,
  })
  if (isUnavailable(error)) reportUnavailable(ctx, thrown, error, runtime)
  else if (status >= 500) report(ctx, thrown, status, runtime)
  if (res.headersSent || res.destroyed) {
    // The headers are already sent; closing the connection shows the client that the body is incomplete.
    if (!res.writableEnded) res.destroy()
    return
  }
  removeBodyHeaders(res)
  // The request failed unexpectedly: it must not sign its caller in.
  if (!isHttpError(error)) res.removeHeader('Set-Cookie')
  const headers = headersOf(isHttpError(error) ? error.headers : headersOfKoa(thrown), status, res)
  lingerOver(ctx.internal, status)
  adapter.send(ctx, { status, type: PROBLEM_TYPE, payload, headers })
}

/**
 * Refuses a request with a problem code of the framework, without an error object. Only for requests that no middleware
 * has seen: no code could catch the error or read its headers on the response.
 */
export function refuse(ctx: RequestContext, code: ProblemCode, detail: string): void {
  const { res, adapter } = ctx.internal
  const { status } = PROBLEM_CODES[code]
  removeBodyHeaders(res)
  adapter.send(ctx, { status, type: PROBLEM_TYPE, payload: problemOfCode(code, detail, ctx.id) })
}

function removeBodyHeaders(res: ServerResponse): void {
  if (res.getHeaderNames().length === 0) return
  for (const name of BODY_HEADERS) res.removeHeader(name)
  // Caches would send the problem for as long as the content that it replaces (RFC 9111 §3).
  const caching = String(res.getHeader('Cache-Control') ?? '')
  if (/public|max-?age|immutable/i.test(caching) && !/no-store|no-cache/i.test(caching))
    res.removeHeader('Cache-Control')
}

/** Headers of the framework's own errors. No adapter adds one of them, so none is sent twice. */
const PLAIN_HEADERS = new Set(['WWW-Authenticate', 'Allow', 'Retry-After', 'Accept', 'Accept-Encoding'])

/** Sets the headers of an error, or returns them as a flat list if possible, which Node writes much faster. */
function headersOf(own: HttpError['headers'], status: number, res: ServerResponse): string[] {
  const headers: string[] = []
  for (const [name, value] of Object.entries(own))
    if (PLAIN_HEADERS.has(name)) headers.push(name, value)
    else res.setHeader(name, value)
  // RFC 9110 §15.5.2: a 401 always has a challenge.
  if (status === 401 && !headers.includes('WWW-Authenticate') && !res.hasHeader('WWW-Authenticate'))
    headers.push('WWW-Authenticate', 'Bearer')
  return headers
}

/** True for a path without a route, which is not an error of the application and no error in Koa. */
function isUnmatched(ctx: RequestContext, thrown: unknown): boolean {
  return ctx.route === '' && (thrown instanceof NotFound || thrown instanceof MethodNotAllowed)
}

/** Milliseconds for which the rest of an oversized or partly refused body is read and discarded. */
const LINGER = 2000

/**
 * Reads and discards the rest of the body for `LINGER` ms, then closes the connection. Closing it with unread bytes
 * would reset it, and the client could lose the response.
 */
function lingerOver({ req, isBodyTaken }: RequestContext['internal'], status: number): void {
  // A body that was read as a whole may be read before Node marks the request as complete.
  if (req.complete || isBodyTaken || (status !== 413 && !req.readableDidRead)) return
  req.on('error', ignore).resume()
  const timer = setTimeout(() => req.complete || req.destroy(), LINGER).unref()
  req.once('close', () => clearTimeout(timer))
}

function reportUnavailable(
  ctx: RequestContext,
  thrown: unknown,
  error: HttpError,
  { unavailable }: PipelineRuntime,
): void {
  const { observation, refusal } = ctx.internal
  observation?.fail(thrown)
  unavailable.count(error)
  // The step that evaluates credentials has logged its refusal.
  if (thrown !== refusal)
    unavailable.log(error, { requestId: ctx.id, method: ctx.method, route: ctx.route, status: error.status })
}

function report(ctx: RequestContext, thrown: unknown, status: number, runtime: PipelineRuntime): void {
  const { observation, refusal } = ctx.internal
  observation?.fail(thrown)
  if (thrown !== undefined && Object.is(thrown, refusal)) return
  const fields = {
    ...observation?.request.logFields,
    requestId: ctx.id,
    ip: ctx.ip,
    method: ctx.method,
    route: ctx.route,
    origin: ctx.internal.prepare?.origin,
    status,
    err: describeError(thrown),
    ...hintFor(thrown, runtime),
  }
  runtime.logger.error(fields, 'Request failed')
}

function hintFor(thrown: unknown, { environment }: PipelineRuntime): { readonly hint?: string | undefined } {
  if (environment === 'production') return {}
  try {
    return { hint: statusHint(thrown) }
  } catch {
    // The error has a getter that throws.
    return {}
  }
}
