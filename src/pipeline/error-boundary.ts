import type { IncomingMessage } from 'node:http'
import { describeError } from '../errors/describe-error.ts'
import { isHttpError, MethodNotAllowed, NotFound } from '../errors/http-error.ts'
import { PROBLEM_TYPE, problemOf } from '../errors/problem.ts'
import type { RequestContext } from '../context/request-context.ts'
import { dropStream } from '../context/koa-context.ts'
import { asHttpError } from '../context/thrown.ts'
import type { PipelineRuntime } from './runtime.ts'

/** Headers that describe the body that will not be sent; all others survive an error. */
const BODY_HEADERS = [
  'Content-Type',
  'Content-Length',
  'Content-Encoding',
  'Content-Disposition',
  'Content-Range',
  'Transfer-Encoding',
  'ETag',
  'Last-Modified',
]

/**
 * The one place where what was thrown becomes a response. Never throws: what cannot be rendered itself (a getter that
 * throws, a header that is none) is answered for by the error that it brings about.
 */
export function fail(ctx: RequestContext, thrown: unknown, runtime: PipelineRuntime): void {
  let failure = thrown
  if (!isUnmatched(ctx, thrown)) ctx.internal.runtime.emitError(ctx, thrown)
  for (const _attempt of ['what was thrown', 'what that brought about', 'a plain error'])
    try {
      return answer(ctx, failure, runtime)
    } catch (next) {
      failure = failure === thrown ? next : new Error('What was thrown cannot be rendered.')
    }
  ctx.internal.res.destroy()
}

function answer(ctx: RequestContext, thrown: unknown, runtime: PipelineRuntime): void {
  const { res, req, door, koa } = ctx.internal
  if (koa !== undefined) dropStream(koa)
  const error = asHttpError(thrown)
  const problem = problemOf(error, ctx.id, runtime.environment !== 'production')
  if (problem.status >= 500) log(ctx, thrown, problem.status, runtime)
  if (res.headersSent || res.destroyed) {
    // Too late for a problem: an aborted connection tells the client that the body it has is not whole.
    if (!res.writableEnded) res.destroy()
    return
  }
  for (const name of BODY_HEADERS) res.removeHeader(name)
  if (isHttpError(error))
    for (const [name, value] of Object.entries(error.headers)) res.setHeader(name, value)
  if (problem.status === 401 && !res.hasHeader('WWW-Authenticate'))
    res.setHeader('WWW-Authenticate', 'Bearer')
  lingerOver(req, problem.status)
  door.send(ctx, { status: problem.status, type: PROBLEM_TYPE, payload: stringify(problem) })
}

/** A path without a route is not an error of the application; in Koa it is not an error at all. */
function isUnmatched(ctx: RequestContext, thrown: unknown): boolean {
  return ctx.route === '' && (thrown instanceof NotFound || thrown instanceof MethodNotAllowed)
}

/** Milliseconds in which the rest of a body that is too large, or was refused half-way, is thrown away. */
const LINGER = 2000

/**
 * A connection that is closed with bytes unread is reset, and the answer can be lost with it. So the rest is read for a
 * while, and whoever still sends then is cut off.
 */
function lingerOver(req: IncomingMessage, status: number): void {
  if (req.complete || (status !== 413 && !req.readableDidRead)) return
  req.on('error', ignore).resume()
  const timer = setTimeout(() => req.complete || req.destroy(), LINGER).unref()
  req.once('close', () => clearTimeout(timer))
}

function ignore(): void {}

function log(ctx: RequestContext, thrown: unknown, status: number, runtime: PipelineRuntime): void {
  const fields = {
    requestId: ctx.id,
    ip: ctx.ip,
    method: ctx.method,
    route: ctx.route,
    status,
    err: describeError(thrown),
  }
  runtime.logger.error(fields, 'Request failed')
}

/** Extension members come from applications and may hold what JSON cannot. */
function stringify(problem: object): string {
  try {
    const text = JSON.stringify(problem) as string | undefined
    if (text?.startsWith('{')) return text
  } catch {
    // Told without them below.
  }
  const { type, title, status, detail, code, instance } = problem as Record<string, unknown>
  return JSON.stringify({ type, title, status, detail, code, instance })
}
