import { DEFAULT_CODES, type ProblemCode } from './codes.ts'

/** What an `HttpError` may carry beside its message. */
export interface HttpErrorOptions {
  /** Stable machine-readable code: of the core's table, of a brick's slot `problems`, or the application's own. */
  readonly code?: string
  /** Response headers that belong to the error, such as `Retry-After`. */
  readonly headers?: Readonly<Record<string, string>>
  /** RFC 9457 extension members, merged into the problem document. They never replace a standard member. */
  readonly extensions?: Readonly<Record<string, unknown>>
  /** Short, constant summary of the kind of problem (RFC 9457 `title`); by default that of the code or status. */
  readonly title?: string
  /** URI that identifies the kind of problem (RFC 9457 `type`); by default that of the code, or `about:blank`. */
  readonly type?: string
  /** `false` leaves `instance` out of the problem, where two responses must be the same bytes. `X-Request-Id` stays. */
  readonly instance?: false
  readonly cause?: unknown
}

const HTTP_ERROR = Symbol.for('mortar.http-error')

/**
 * True for an `HttpError`, also one that another copy of the package made: a test runner that requires some modules and
 * imports others loads the package twice.
 */
export function isHttpError(thrown: unknown): thrown is HttpError {
  return thrown instanceof Error && HTTP_ERROR in thrown
}

/**
 * A deliberate answer to the caller: its `status`, `code` and message reach the response as an RFC 9457 problem.
 * Only this class and its subclasses set a status; any other thrown value is a 500.
 */
export class HttpError extends Error {
  readonly [HTTP_ERROR] = true
  readonly status: number
  readonly code: string
  readonly title: string | undefined
  readonly type: string | undefined
  /** False when the problem document has no `instance`. */
  readonly instance: boolean
  readonly headers: Readonly<Record<string, string>>
  readonly extensions: Readonly<Record<string, unknown>>

  constructor(status: number, detail: string, options: HttpErrorOptions = {}) {
    super(detail, options.cause === undefined ? undefined : { cause: options.cause })
    if (!Number.isInteger(status) || status < 400 || status > 599)
      throw new RangeError(`HttpError takes a status from 400 to 599, not ${status}`)
    this.name = new.target.name
    this.status = status
    this.code = options.code ?? codeOfStatus(status)
    this.title = options.title
    this.type = options.type
    this.instance = options.instance !== false
    this.headers = options.headers ?? {}
    this.extensions = options.extensions ?? {}
  }

  /** The same as `status`: Koa middleware and error reporters know Koa's errors by `statusCode` and `expose`. */
  get statusCode(): number {
    return this.status
  }

  /** True below 500: an expected response, which error reporters leave out. */
  get expose(): boolean {
    return this.status < 500
  }
}

function codeOfStatus(status: number): ProblemCode {
  return DEFAULT_CODES[status] ?? (status < 500 ? 'bad_request' : 'internal_error')
}

/** 400: the request cannot be understood. */
export class BadRequest extends HttpError {
  constructor(detail = 'The request cannot be understood.', options?: HttpErrorOptions) {
    super(400, detail, options)
  }
}

/** 401: no valid credential. The response carries `WWW-Authenticate: Bearer` (RFC 9110 §11.6.1). */
export class Unauthorized extends HttpError {
  constructor(detail = 'A valid credential is required.', options?: HttpErrorOptions) {
    super(401, detail, options)
  }
}

/** 403: the caller is known and may not do this. */
export class Forbidden extends HttpError {
  constructor(detail = 'You may not do this.', options?: HttpErrorOptions) {
    super(403, detail, options)
  }
}

/** 404: there is nothing here, or nothing that this caller may know of. */
export class NotFound extends HttpError {
  constructor(detail = 'There is nothing here.', options?: HttpErrorOptions) {
    super(404, detail, options)
  }
}

/** 405: the path exists, the method does not. `allow` is the exact list for the `Allow` header (RFC 9110 §15.5.6). */
export class MethodNotAllowed extends HttpError {
  constructor(allow: readonly string[], options: HttpErrorOptions = {}) {
    const list = allow.join(', ')
    super(405, `This path answers ${list}.`, { ...options, headers: { ...options.headers, Allow: list } })
  }
}

/** 409: the request conflicts with the present state, such as a unique value that is taken. */
export class Conflict extends HttpError {
  constructor(detail = 'The request conflicts with the present state.', options?: HttpErrorOptions) {
    super(409, detail, options)
  }
}

/** 413: the body is larger than the route takes. */
export class PayloadTooLarge extends HttpError {
  constructor(detail = 'The body is too large.', options?: HttpErrorOptions) {
    super(413, detail, options)
  }
}

/** 415: the body's media type, charset or content encoding is not one that the route reads. */
export class UnsupportedMediaType extends HttpError {
  constructor(detail = 'The body has a media type that is not read here.', options?: HttpErrorOptions) {
    super(415, detail, options)
  }
}

/** One thing wrong with an input: where it was sent, the path inside that location (`items[0].qty`), and why. */
export interface Issue {
  readonly location: 'params' | 'query' | 'headers' | 'body'
  readonly path: string
  readonly message: string
}

/** Options of a `ValidationFailed`. */
export interface ValidationFailedOptions extends HttpErrorOptions {
  /** `errors` is not the whole list; the problem then has the member `truncated: true`. */
  readonly truncated?: boolean
}

/** 422: the input was read and is not valid. `errors` lists the issues of all locations. */
export class ValidationFailed extends HttpError {
  readonly errors: readonly Issue[]

  constructor(errors: readonly Issue[], options?: ValidationFailedOptions) {
    super(422, summaryOf(errors.length, options?.truncated === true), withErrors(errors, options))
    this.errors = errors
  }
}

function withErrors(errors: readonly Issue[], options?: ValidationFailedOptions): HttpErrorOptions {
  if (options === undefined) return { extensions: { errors } }
  const { truncated = false, ...rest } = options
  const own = truncated ? { errors, truncated } : { errors }
  return { ...rest, extensions: { ...rest.extensions, ...own } }
}

function summaryOf(count: number, truncated: boolean): string {
  if (truncated) return `More than ${count === 1 ? '1 value is' : `${count} values are`} not valid.`
  return count === 1 ? '1 value is not valid.' : `${count} values are not valid.`
}

/** 429: a limit is used up. `retryAfter` is in whole seconds and becomes `Retry-After` (RFC 6585 §4). */
export class TooManyRequests extends HttpError {
  constructor(
    retryAfter: number,
    detail = 'Too many requests. Try again later.',
    options: HttpErrorOptions = {},
  ) {
    const headers = { ...options.headers, 'Retry-After': String(Math.max(1, Math.ceil(retryAfter))) }
    super(429, detail, { ...options, headers })
  }
}

/** 503: the service cannot answer now; `retryAfter` in seconds, when known. */
export class ServiceUnavailable extends HttpError {
  constructor(
    detail = 'The service cannot answer now.',
    options?: HttpErrorOptions & { retryAfter?: number },
  ) {
    const { retryAfter, ...rest } = options ?? {}
    const header =
      retryAfter === undefined ? {} : { 'Retry-After': String(Math.max(1, Math.ceil(retryAfter))) }
    super(503, detail, { ...rest, headers: { ...rest.headers, ...header } })
  }
}
