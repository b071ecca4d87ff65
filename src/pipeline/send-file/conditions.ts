import type { IncomingHttpHeaders } from 'node:http'
import fresh from 'fresh'
import { HttpError } from '../../errors/http-error.ts'
import type { ByteRange } from './byte-range.ts'

/** The validators of a file as they are sent. */
export interface Validators {
  readonly etag: string | undefined
  /** As an HTTP date. */
  readonly lastModified: string | undefined
}

/**
 * Checks `If-Match`, else `If-Unmodified-Since` (RFC 9110 §13.2.2, steps 1 and 2).
 * @throws HttpError 412 `precondition_failed`.
 */
export function checkPreconditions(headers: IncomingHttpHeaders, validators: Validators): void {
  const { 'if-match': match, 'if-unmodified-since': since } = headers
  const isMet = match === undefined ? isUnmodified(since, validators) : matches(match, validators)
  if (!isMet)
    throw new HttpError(412, 'The file does not match the preconditions of the request.', {
      code: 'precondition_failed',
    })
}

/** True if the client has the current content (RFC 9110 §13.2.2, steps 3 and 4). */
export function isFresh(headers: IncomingHttpHeaders, { etag, lastModified }: Validators): boolean {
  return fresh(headers, { etag, 'last-modified': lastModified })
}

/** Compares strongly: a weak entity tag never matches (RFC 9110 §13.1.1). */
function matches(match: string, { etag }: Validators): boolean {
  if (match.trim() === '*') return true
  if (etag === undefined || etag.startsWith('W/')) return false
  return match.split(',').some((tag) => tag.trim() === etag)
}

function isUnmodified(since: string | undefined, { lastModified }: Validators): boolean {
  const time = Date.parse(since ?? '')
  return Number.isNaN(time) || lastModified === undefined || Date.parse(lastModified) <= time
}

/** One range with unit `bytes`; a suffix has no first number. */
const ONE_RANGE = /^bytes=[ \t]*(\d*)-(\d*)[ \t]*$/i

/**
 * Returns the part of a file that a request asks for (RFC 9110 §14.2). Undefined for the whole file: without `Range`,
 * for several ranges, another unit or an invalid value, and if `If-Range` does not match.
 * @throws HttpError 416 `range_not_satisfiable` for a range without a byte of the file.
 */
export function rangeOf(
  headers: IncomingHttpHeaders,
  size: number,
  validators: Validators,
): ByteRange | undefined {
  const [, first = '', last = ''] = ONE_RANGE.exec(headers.range ?? '') ?? []
  if (first + last === '' || !isCurrent(headers['if-range'], validators)) return undefined
  const range = first === '' ? lastBytes(Number(last), size) : fromTo(Number(first), last, size)
  if (range !== undefined && range.start >= size) throw unsatisfiable(size)
  return range
}

/** A count of more bytes than there are is the whole file. */
function lastBytes(count: number, size: number): ByteRange {
  return { start: Math.max(0, size - count), end: size - 1 }
}

/** The syntax forbids a last position before the first one, so such a range is ignored. */
function fromTo(start: number, last: string, size: number): ByteRange | undefined {
  if (last === '') return { start, end: size - 1 }
  return Number(last) < start ? undefined : { start, end: Math.min(Number(last), size - 1) }
}

/** True without `If-Range`, or if it has the strong entity tag or the date of the file (RFC 9110 §13.1.5). */
function isCurrent(header: string | string[] | undefined, { etag, lastModified }: Validators): boolean {
  if (header === undefined) return true
  const value = String(header).trim()
  if (/^(?:W\/)?"/.test(value)) return value === etag && !value.startsWith('W/')
  return value === lastModified
}

function unsatisfiable(size: number): HttpError {
  return new HttpError(416, `The file has ${size} bytes, and the range begins after them.`, {
    code: 'range_not_satisfiable',
    headers: { 'Content-Range': `bytes */${size}` },
  })
}
