import { HttpError, isHttpError } from '../errors/http-error.ts'

/** Errors that `ctx.koa.throw` derived from another error, with the class of that error. */
const THROWN_BY_KOA = new WeakSet<object>()

/** Marks an error as a deliberate response: `ctx.koa.throw(401, cause)` returns the cause itself with a status. */
export function markDeliberate(error: object): void {
  THROWN_BY_KOA.add(error)
}

/**
 * Returns the `HttpError` for an error of `ctx.koa.throw`, `ctx.koa.assert` or `http-errors`. These errors are
 * recognised by class, not by fields: drivers and clients also set a `status` on their errors, which must not become
 * the status of the response. Any other value is returned unchanged.
 */
export function asHttpError(thrown: unknown): unknown {
  if (isHttpError(thrown) || !isFromKoa(thrown)) return thrown
  const { status, expose, message, headers } = thrown
  if (status < 400 || status > 599) return thrown
  return new HttpError(status, expose ? message : 'The server failed to process this request.', {
    headers: { ...headers },
    cause: thrown,
  })
}

/** Returns the status of the response for an error. */
export function statusOfThrown(thrown: unknown): number {
  const error = asHttpError(thrown)
  return isHttpError(error) ? error.status : 500
}

interface KoaHttpError extends Error {
  readonly status: number
  readonly expose: boolean
  readonly headers?: Readonly<Record<string, string>>
}

function isFromKoa(thrown: unknown): thrown is KoaHttpError {
  if (!(thrown instanceof Error)) return false
  const { status, statusCode, expose } = thrown as {
    status?: unknown
    statusCode?: unknown
    expose?: unknown
  }
  if (typeof expose !== 'boolean' || typeof status !== 'number' || status !== statusCode) return false
  return THROWN_BY_KOA.has(thrown) || hasKoaClass(thrown)
}

/**
 * Compares class names, because an installation often has several copies of http-errors (Koa, its `assert`, body
 * parsers).
 */
function hasKoaClass(error: object): boolean {
  for (
    let type = Object.getPrototypeOf(error) as object | null;
    type;
    type = Object.getPrototypeOf(type) as object | null
  )
    if (type.constructor.name === 'HttpError') return true
  return false
}
