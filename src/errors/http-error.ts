import { codeOfStatus } from './codes.ts'
import { isError } from './describe-error.ts'
import { STATUS_CODES } from './status-names.ts'

/** Options of an `HttpError` besides its message. */
export interface HttpErrorOptions {
  /** Stable machine-readable code: from the core's table, a brick's slot `problems`, or the application. */
  readonly code?: string
  /** Response headers that belong to the error, such as `Retry-After`. */
  readonly headers?: Readonly<Record<string, string>>
  /** RFC 9457 extension members, merged into the problem document. They never replace a standard member. */
  readonly extensions?: Readonly<Record<string, unknown>>
  /** Short, constant summary of the kind of problem (RFC 9457 `title`); by default the title of the code or status. */
  readonly title?: string
  /** URI that identifies the kind of problem (RFC 9457 `type`); by default the URI of the code, or `about:blank`. */
  readonly type?: string
  /** `false` leaves `instance` out of the problem, so that two responses have identical bytes. `X-Request-Id` stays. */
  readonly instance?: false
  readonly cause?: unknown
}

const HTTP_ERROR = Symbol.for('mortar.http-error')

/**
 * True for an `HttpError`, including one from another copy of the package. A test runner that uses both require and
 * import loads the package twice.
 */
export function isHttpError(thrown: unknown): thrown is HttpError {
  return isError(thrown) && HTTP_ERROR in thrown
}

/**
 * A deliberate error response: its `status`, `code` and message reach the response as an RFC 9457 problem. Only this
 * class and its subclasses set a status; any other thrown value is a 500. Below 500 and with 503 it has no stack trace,
 * which would be most of its cost; its `cause` keeps one.
 */
export class HttpError extends Error {
  readonly status: number
  readonly code: string
  readonly title: string | undefined
  readonly type: string | undefined
  /** False when the problem document has no `instance`. */
  readonly instance: boolean
  readonly headers: Readonly<Record<string, string>>
  readonly extensions: Readonly<Record<string, unknown>>

  constructor(status: number, detail: string, options: HttpErrorOptions = {}) {
    const text = detailOr(STATUS_CODES[status] ?? `Status ${status}`, detail)
    const { stackTraceLimit } = Error
    // With `node --frozen-intrinsics` an assignment throws.
    if (status < 500 || status === 503) Reflect.set(Error, 'stackTraceLimit', 0)
    try {
      super(text, options.cause === undefined ? undefined : { cause: options.cause })
    } finally {
      Reflect.set(Error, 'stackTraceLimit', stackTraceLimit)
    }
    if (!Number.isInteger(status) || status < 400 || status > 599)
      throw new RangeError(`HttpError: the status ${status} is not between 400 and 599.`)
    this.name = new.target.name
    this.status = status
    this.code = options.code ?? codeOfStatus(status)
    this.title = options.title
    this.type = options.type
    this.instance = options.instance !== false
    this.headers = options.headers ?? {}
    this.extensions = options.extensions ?? {}
  }

  get [HTTP_ERROR](): true {
    return true
  }

  /** Equal to `status`: Koa middleware and error reporters read `statusCode` and `expose`. */
  get statusCode(): number {
    return this.status
  }

  /** True below 500: an expected response, which error reporters ignore. */
  get expose(): boolean {
    return this.status < 500
  }
}

/**
 * Returns the detail that JavaScript gave, or the standard one for null and objects: a response never has the detail
 * "[object Object]". An Error from a catch clause is its string.
 */
function detailOr(standard: string, given: unknown): string {
  if (given instanceof Error) return String(given)
  // The constructor of Error converts other values, such as numbers, to strings.
  return given === undefined || typeof given === 'object' ? standard : (given as string)
}

/** 400: the request cannot be understood. */
export class BadRequest extends HttpError {
  constructor(detail?: string, options?: HttpErrorOptions) {
    super(400, detailOr('The request cannot be understood.', detail), options)
  }
}

/** 401: no valid credential. The response carries `WWW-Authenticate: Bearer` (RFC 9110 §11.6.1). */
export class Unauthorized extends HttpError {
  constructor(detail?: string, options?: HttpErrorOptions) {
    super(401, detailOr('A valid credential is required.', detail), options)
  }
}

/** 403: the caller is known and may not do this. */
export class Forbidden extends HttpError {
  constructor(detail?: string, options?: HttpErrorOptions) {
    super(403, detailOr('You may not do this.', detail), options)
  }
}

/** 404: the resource does not exist, or this caller may not know that it exists. */
export class NotFound extends HttpError {
  constructor(detail?: string, options?: HttpErrorOptions) {
    super(404, detailOr('There is nothing here.', detail), options)
  }
}

/** 405: the path exists, the method does not. `allow` is the exact list for the `Allow` header (RFC 9110 §15.5.6). */
export class MethodNotAllowed extends HttpError {
  constructor(allow: readonly string[], options: HttpErrorOptions = {}) {
    const list = allow.join(', ')
    super(405, `This path supports ${list}.`, { ...options, headers: { ...options.headers, Allow: list } })
  }
}

/** 409: the request conflicts with the current state, for example a unique value that is already used. */
export class Conflict extends HttpError {
  constructor(detail?: string, options?: HttpErrorOptions) {
    super(409, detailOr('The request conflicts with the current state.', detail), options)
  }
}

/** 413: the body is larger than the route allows. */
export class PayloadTooLarge extends HttpError {
  constructor(detail?: string, options?: HttpErrorOptions) {
    super(413, detailOr('The body is too large.', detail), options)
  }
}

/** 415: the route does not accept the body's media type, charset or content encoding. */
export class UnsupportedMediaType extends HttpError {
  constructor(detail?: string, options?: HttpErrorOptions) {
    super(415, detailOr('The media type of the body is not supported here.', detail), options)
  }
}

type Scalar = string | number | boolean | null

/** A constant of a rule. */
export type IssueParam = Scalar | readonly Scalar[]

/**
 * One fault of the input: its location in the request, the path inside that location (`items[0].qty`), the broken rule
 * with the constants of the schema (`min`, `{ min: 1 }`), and the reason. The parameters never contain what was sent.
 */
export interface Issue {
  readonly location: 'params' | 'query' | 'headers' | 'body'
  readonly path: string
  readonly rule: string
  readonly params?: Readonly<Record<string, IssueParam>>
  readonly message: string
}

/** An issue that an application makes; without a rule it is `custom`. */
export type OwnIssue = Omit<Issue, 'rule'> & Partial<Pick<Issue, 'rule'>>

/** Options of a `ValidationFailed`. */
export interface ValidationFailedOptions extends HttpErrorOptions {
  /** True if `errors` is incomplete; the problem then has the member `truncated: true`. */
  readonly truncated?: boolean
}

/** 422: the input was read but is not valid. `errors` lists the issues of all locations. */
export class ValidationFailed extends HttpError {
  readonly errors: readonly Issue[]

  constructor(given: readonly OwnIssue[], options?: ValidationFailedOptions) {
    const errors = given.every(hasRule) ? given : given.map(withRule)
    super(422, summaryOf(errors.length, options?.truncated === true), withErrors(errors, options))
    this.errors = errors
  }
}

function hasRule(issue: OwnIssue): issue is Issue {
  return issue.rule !== undefined
}

function withRule(issue: OwnIssue): Issue {
  if (hasRule(issue)) return issue
  const { location, path, ...rest } = issue
  return { location, path, rule: 'custom', ...rest }
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

/**
 * 429: a limit is reached. `retryAfter` is in whole seconds and becomes `Retry-After` (RFC 6585 §4), unless `headers` has
 * that header. Without a time, the detail comes first.
 */
export class TooManyRequests extends HttpError {
  constructor(retryAfter: number, detail?: string, options?: HttpErrorOptions)
  constructor(detail?: string, options?: HttpErrorOptions)
  constructor(first?: number | string, second?: string | HttpErrorOptions, third?: HttpErrorOptions) {
    const [retryAfter, detail, options] =
      typeof first === 'number' ? [first, second, third] : [undefined, first, second ?? third]
    const { headers, ...rest } = typeof options === 'object' ? options : {}
    super(429, detailOr('Too many requests. Try again later.', detail), {
      ...rest,
      headers: withRetryAfter(headers, retryAfter),
    })
  }
}

/** 503: the service is temporarily unavailable; `retryAfter` in seconds, if known, unless `headers` has `Retry-After`. */
export class ServiceUnavailable extends HttpError {
  constructor(detail?: string, options?: HttpErrorOptions & { retryAfter?: number }) {
    const { retryAfter, headers, ...rest } = options ?? {}
    super(503, detailOr('The service is temporarily unavailable.', detail), {
      ...rest,
      headers: withRetryAfter(headers, retryAfter),
    })
  }
}

function withRetryAfter(
  headers: HttpErrorOptions['headers'] = {},
  seconds: number | undefined,
): Readonly<Record<string, string>> {
  const isGiven = Object.keys(headers).some((name) => name.toLowerCase() === 'retry-after')
  if (isGiven || !Number.isFinite(seconds)) return headers
  return { ...headers, 'Retry-After': String(Math.max(1, Math.ceil(seconds!))) }
}
