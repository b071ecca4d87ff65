import { STATUS_CODES } from './status-names.ts'

/** One kind of problem: its status, a short constant title, and optionally a URI. */
export interface ProblemDefinition {
  readonly status: number
  readonly title: string
  /** RFC 9457 `type`; `urn:mortar:problem:<code>` by default. */
  readonly type?: string
}

/** Problem codes with their definitions: the slot `problems` of a brick. */
export type Problems = Readonly<Record<string, ProblemDefinition>>

/**
 * The core's own problem codes (RFC 9457 extension member `code`). A brick declares its codes in its slot `problems`.
 * `docs/errors.md` lists all of them, and a test compares the two.
 */
export const PROBLEM_CODES = {
  bad_request: { status: 400, title: 'Bad Request' },
  malformed_path: { status: 400, title: 'Malformed path' },
  malformed_body: { status: 400, title: 'Malformed body' },
  too_many_parameters: { status: 400, title: 'Too many query parameters' },
  unauthorized: { status: 401, title: 'Unauthorized' },
  invalid_token: { status: 401, title: 'Invalid token' },
  forbidden: { status: 403, title: 'Forbidden' },
  policy_denied: { status: 403, title: 'Policy denied' },
  cross_site_request: { status: 403, title: 'Cross-site request refused' },
  not_found: { status: 404, title: 'Not Found' },
  method_not_allowed: { status: 405, title: 'Method Not Allowed' },
  not_acceptable: { status: 406, title: 'Not Acceptable' },
  request_timeout: { status: 408, title: 'Request Timeout' },
  conflict: { status: 409, title: 'Conflict' },
  gone: { status: 410, title: 'Gone' },
  precondition_failed: { status: 412, title: 'Precondition Failed' },
  payload_too_large: { status: 413, title: 'Payload Too Large' },
  too_many_fields: { status: 413, title: 'Too many form fields' },
  too_many_files: { status: 413, title: 'Too many files' },
  file_too_large: { status: 413, title: 'File too large' },
  part_header_too_large: { status: 413, title: 'Form part headers too large' },
  unsupported_media_type: { status: 415, title: 'Unsupported Media Type' },
  range_not_satisfiable: { status: 416, title: 'Range Not Satisfiable' },
  expectation_failed: { status: 417, title: 'Expectation Failed' },
  validation_failed: { status: 422, title: 'Validation failed' },
  too_many_requests: { status: 429, title: 'Too Many Requests' },
  rate_limited: { status: 429, title: 'Rate limit reached' },
  headers_too_large: { status: 431, title: 'Request Header Fields Too Large' },
  client_closed_request: { status: 499, title: 'Client Closed Request' },
  internal_error: { status: 500, title: 'Internal Server Error' },
  response_mismatch: { status: 500, title: 'Response does not match its schema' },
  not_implemented: { status: 501, title: 'Not Implemented' },
  service_unavailable: { status: 503, title: 'Service Unavailable' },
  maintenance: { status: 503, title: 'Maintenance' },
  uploads_unavailable: { status: 503, title: 'Uploads unavailable' },
  handler_timeout: { status: 503, title: 'Handler timed out' },
} as const satisfies Problems

/** A problem code of the core. */
export type ProblemCode = keyof typeof PROBLEM_CODES

/** Default codes of an `HttpError` that differ from the phrase of its status, or whose phrase RFC 9110 has changed. */
const DEFAULT_CODES: Readonly<Record<number, ProblemCode>> = {
  413: 'payload_too_large',
  422: 'validation_failed',
  431: 'headers_too_large',
  499: 'client_closed_request',
  500: 'internal_error',
}

/** Returns the default code of a status: the core's, or its phrase in lower case: `payment_required` for 402. */
export function codeOfStatus(status: number): string {
  return DEFAULT_CODES[status] ?? codeOfPhrase(STATUS_CODES[status] ?? `Status ${status}`)
}

function codeOfPhrase(phrase: string): string {
  return phrase
    .toLowerCase()
    .replaceAll(/[^\w ]/g, '')
    .replaceAll(' ', '_')
}
