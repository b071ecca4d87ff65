import { STATUS_CODES } from 'node:http'
import { PROBLEM_CODES, type CodeEntry } from './codes.ts'
import { type HttpError, isHttpError } from './http-error.ts'

/** Media type of every error response (RFC 9457 §3). */
export const PROBLEM_TYPE = 'application/problem+json'

/** An RFC 9457 problem document; extension members stand beside the standard ones. */
export interface Problem {
  readonly type: string
  readonly title: string
  readonly status: number
  readonly detail: string
  readonly code: string
  /** The request id, which the log lines of the request carry too; absent when the error asked for identical bytes. */
  readonly instance?: string
  readonly [extension: string]: unknown
}

/**
 * Renders what was thrown. An `HttpError` keeps its status and message; anything else is a 500 whose message is
 * told only where `exposeUnexpected` is true (outside production).
 */
export function problemOf(thrown: unknown, instance: string, exposeUnexpected: boolean): Problem {
  if (isHttpError(thrown)) return deliberate(thrown, instance)
  const detail = exposeUnexpected ? messageOf(thrown) : 'The server failed to answer this request.'
  const { status, title } = PROBLEM_CODES.internal_error
  return { type: typeOf('internal_error'), title, status, detail, code: 'internal_error', instance }
}

function deliberate(error: HttpError, instance: string): Problem {
  const entry = entryOf(error.code)
  const standard = {
    type: error.type ?? typeOf(error.code),
    title: error.title ?? entry?.title ?? STATUS_CODES[error.status] ?? 'Error',
    status: error.status,
    detail: error.message,
    code: error.code,
    ...(error.instance !== false && { instance }),
  }
  return { ...standard, ...withoutInstance(error), ...standard }
}

/** Extension members never stand in for a standard one, also not for an `instance` that is left out. */
function withoutInstance({ extensions }: HttpError): Readonly<Record<string, unknown>> {
  const { instance: _, ...others } = extensions
  return others
}

/** The framework's own codes have a URN each; an application's own code is told apart by `code` alone. */
function typeOf(code: string): string {
  return entryOf(code) ? `urn:mortar:problem:${code}` : 'about:blank'
}

function entryOf(code: string): CodeEntry | undefined {
  return Object.hasOwn(PROBLEM_CODES, code) ? PROBLEM_CODES[code as keyof typeof PROBLEM_CODES] : undefined
}

function messageOf(thrown: unknown): string {
  if (thrown instanceof Error) return thrown.message || thrown.name
  return `A value that is not an Error was thrown: ${typeof thrown}.`
}
