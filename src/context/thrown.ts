import { isError } from '../errors/describe-error.ts'
import { HttpError, isHttpError } from '../errors/http-error.ts'

/** The origin of an error: `ctx.koa.throw`, other Koa code, or Koa code that read the body of the request. */
type Origin = 'throw' | 'code' | 'reading'

const ORIGINS = new WeakMap<object, Origin>()

/** Marks an error as a deliberate response: `ctx.koa.throw(401, cause)` returns the cause itself with a status. */
export function markDeliberate(error: object): void {
  ORIGINS.set(error, 'throw')
}

/** Marks an error that Koa middleware or an adopted router has thrown. */
export function markThrownByKoa(thrown: unknown, origin: Exclude<Origin, 'throw'>): void {
  if (isError(thrown) && !ORIGINS.has(thrown)) ORIGINS.set(thrown, origin)
}

/**
 * Returns the `HttpError` for a deliberate error of Koa, or any other value unchanged. Drivers and clients also set a
 * `status` on their errors, which must not become the status of the response. Deliberate are:
 *
 * - errors of `ctx.koa.throw`, `ctx.koa.assert` and `http-errors`, wherever they are thrown
 * - a 4xx with `expose: true` that Koa code has thrown, which is Koa's own rule
 * - a 4xx that Koa code has thrown while it read the body, because body parsers set only the status
 */
export function asHttpError(thrown: unknown): unknown {
  try {
    if (isHttpError(thrown) || !isError(thrown) || !isDeliberate(thrown)) return thrown
    const status = statusOf(thrown)
    const { expose, message } = thrown as Error & { readonly expose?: unknown }
    const detail = expose === true ? message : hiddenDetail(status)
    return new HttpError(status, detail, { headers: headersOfKoa(thrown), cause: thrown })
  } catch {
    // A getter of the error has thrown.
    return thrown
  }
}

/** Returns the status of the response for an error. */
export function statusOfThrown(thrown: unknown): number {
  const error = asHttpError(thrown)
  return isHttpError(error) ? error.status : 500
}

/** Headers that describe another body or connection. */
const NOT_KEPT = /^(?:content-(?:type|length|encoding|disposition)|transfer-encoding|connection|keep-alive)$/i

/** Returns the `headers` of an error that Koa code has thrown; none for other values. */
export function headersOfKoa(thrown: unknown): Readonly<Record<string, string>> {
  if (!isError(thrown) || !(ORIGINS.has(thrown) || hasKoaClass(thrown))) return {}
  const { headers } = thrown as { readonly headers?: Readonly<Record<string, string>> }
  return Object.fromEntries(Object.entries(headers ?? {}).filter(([name]) => !NOT_KEPT.test(name)))
}

function isDeliberate(error: Error & { readonly statusCode?: unknown; readonly expose?: unknown }): boolean {
  const { statusCode, expose } = error
  const status = statusOf(error)
  const origin = ORIGINS.get(error)
  if (status < 400 || status > 599) return false
  if (status < 500 && origin !== undefined && (expose === true || origin === 'reading')) return true
  return typeof expose === 'boolean' && status === statusCode && (origin === 'throw' || hasKoaClass(error))
}

function statusOf(error: object): number {
  const { status, statusCode, httpCode } = error as Readonly<Record<string, unknown>>
  // formidable, and with it koa-body, sets `httpCode` alone.
  const found = status ?? statusCode ?? httpCode
  return Number.isInteger(found) ? (found as number) : 0
}

function hiddenDetail(status: number): string {
  return status < 500 ? 'The request cannot be understood.' : 'The server failed to process this request.'
}

/**
 * Compares class names, because an installation often has several copies of http-errors (Koa, its `assert`, body
 * parsers).
 */
function hasKoaClass(error: object): boolean {
  for (let type: object | null = Object.getPrototypeOf(error); type; type = Object.getPrototypeOf(type))
    if ((type.constructor as { name?: unknown } | undefined)?.name === 'HttpError') return true
  return false
}
