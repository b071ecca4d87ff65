import { HttpError, isHttpError } from '../errors/http-error.ts'

/** Errors that `ctx.koa.throw` made of another error, whose class it keeps. */
const THROWN_BY_KOA = new WeakSet<object>()

/** Marks an error as a deliberate response: `ctx.koa.throw(401, cause)` returns the cause itself with a status. */
export function markDeliberate(error: object): void {
  THROWN_BY_KOA.add(error)
}

/**
 * Returns the `HttpError` for an error of Koa: what `ctx.koa.throw`, `ctx.koa.assert` and `http-errors` make. It is known
 * by its class, not by its fields: drivers and clients put a `status` on their errors too, and that does not set the
 * status of a response. Any other value is returned as it is.
 */
export function asHttpError(thrown: unknown): unknown {
  if (isHttpError(thrown) || !isFromKoa(thrown)) return thrown
  const { status, expose, message, headers } = thrown
  if (status < 400 || status > 599) return thrown
  return new HttpError(status, expose ? message : 'The server failed to answer this request.', {
    headers: { ...headers },
    cause: thrown,
  })
}

/** The status of the response that an error becomes. */
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

/** By name, because an installation often has several copies of http-errors: Koa's, that of its `assert`, a body parser's. */
function hasKoaClass(error: object): boolean {
  for (
    let type = Object.getPrototypeOf(error) as object | null;
    type;
    type = Object.getPrototypeOf(type) as object | null
  )
    if (type.constructor.name === 'HttpError') return true
  return false
}
