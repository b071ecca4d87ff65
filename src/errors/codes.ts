/** One row of the table of problem codes: what a caller is told and with which status. */
export interface CodeEntry {
  readonly status: number
  readonly title: string
}

/**
 * Every code that a problem document of the framework can carry (RFC 9457 extension member `code`).
 * `docs/errors.md` lists the same table; a test holds the two together. The first code of a status is its default code.
 */
export const PROBLEM_CODES = {
  bad_request: { status: 400, title: 'Bad Request' },
  malformed_path: { status: 400, title: 'Malformed path' },
  malformed_body: { status: 400, title: 'Malformed body' },
  too_many_parameters: { status: 400, title: 'Too many query parameters' },
  unauthorized: { status: 401, title: 'Unauthorized' },
  invalid_token: { status: 401, title: 'Invalid token' },
  invalid_credentials: { status: 401, title: 'Invalid credentials' },
  invalid_session: { status: 401, title: 'Invalid session' },
  invalid_reset_token: { status: 401, title: 'Invalid reset token' },
  forbidden: { status: 403, title: 'Forbidden' },
  policy_denied: { status: 403, title: 'Policy denied' },
  cross_site_request: { status: 403, title: 'Cross-site request refused' },
  not_found: { status: 404, title: 'Not Found' },
  method_not_allowed: { status: 405, title: 'Method Not Allowed' },
  not_acceptable: { status: 406, title: 'Not Acceptable' },
  request_timeout: { status: 408, title: 'Request Timeout' },
  conflict: { status: 409, title: 'Conflict' },
  email_taken: { status: 409, title: 'E-mail address taken' },
  gone: { status: 410, title: 'Gone' },
  payload_too_large: { status: 413, title: 'Payload Too Large' },
  too_many_fields: { status: 413, title: 'Too many form fields' },
  too_many_files: { status: 413, title: 'Too many files' },
  file_too_large: { status: 413, title: 'File too large' },
  part_header_too_large: { status: 413, title: 'Form part headers too large' },
  unsupported_media_type: { status: 415, title: 'Unsupported Media Type' },
  expectation_failed: { status: 417, title: 'Expectation Failed' },
  validation_failed: { status: 422, title: 'Validation failed' },
  too_many_requests: { status: 429, title: 'Too Many Requests' },
  headers_too_large: { status: 431, title: 'Request Header Fields Too Large' },
  client_closed_request: { status: 499, title: 'Client Closed Request' },
  internal_error: { status: 500, title: 'Internal Server Error' },
  response_mismatch: { status: 500, title: 'Response does not match its schema' },
  missing_table: { status: 500, title: 'Missing table' },
  missing_column: { status: 500, title: 'Missing column' },
  not_implemented: { status: 501, title: 'Not Implemented' },
  service_unavailable: { status: 503, title: 'Service Unavailable' },
  session_state_unknown: { status: 503, title: 'Session state unknown' },
  handler_timeout: { status: 503, title: 'Handler timed out' },
} as const satisfies Record<string, CodeEntry>

export type ProblemCode = keyof typeof PROBLEM_CODES
