import { STATUS_CODES } from 'node:http'
import { PROBLEM_CODES, type CodeEntry } from './codes.ts'
import { type HttpError, isHttpError } from './http-error.ts'

/** Media type of every error response (RFC 9457 §3). */
export const PROBLEM_TYPE = 'application/problem+json'

/** Members of a problem document that an extension never replaces. */
const STANDARD = new Set(['type', 'title', 'status', 'detail', 'code', 'instance'])

/**
 * Renders a thrown value as the text of an RFC 9457 problem document. An `HttpError` keeps its status and message; any
 * other value is a 500, whose message is included only if `exposeUnexpected` is true (outside production).
 * @param instance the request id, which the log lines of the request also carry
 */
export function problemText(thrown: unknown, instance: string, exposeUnexpected: boolean): string {
  if (isHttpError(thrown)) return deliberate(thrown, instance)
  const detail = exposeUnexpected ? messageOf(thrown) : 'The server failed to answer this request.'
  return textOf(HEADS.get('internal_error')!, { detail, code: 'internal_error', instance }, '')
}

/** Renders the problem of a code of the framework, where no error object exists. */
export function problemOfCode(code: keyof typeof PROBLEM_CODES, detail: string, instance: string): string {
  return textOf(HEADS.get(code)!, { detail, code, instance }, '')
}

/** Status of the response to a thrown value. */
export function problemStatus(thrown: unknown): number {
  return isHttpError(thrown) ? thrown.status : PROBLEM_CODES.internal_error.status
}

/** Members that differ between two problems of one code. */
interface Particulars {
  readonly detail: string
  readonly code: string
  /** Undefined where two responses must have identical bytes. */
  readonly instance: string | undefined
}

function deliberate(error: HttpError, instance: string): string {
  const own = { detail: error.message, code: error.code, instance: error.instance ? instance : undefined }
  return textOf(headOf(error), own, membersOf(error.extensions))
}

/** Concatenated: `JSON.stringify` of the whole document takes three times as long. */
function textOf(head: string, { detail, code, instance }: Particulars, members: string): string {
  const id = instance === undefined ? '' : `,"instance":${quote(instance)}`
  return `${head},"detail":${quote(detail)},"code":${quote(code)}${id}${members}}`
}

/** JavaScript code may put anything on an error, also a value without a JSON form. */
function quote(value: unknown): string {
  const text = JSON.stringify(value) as string | undefined
  return text ?? 'null'
}

/** The first members of the documents of each code, up to `status`. */
const HEADS: ReadonlyMap<string, string> = new Map(
  Object.entries(PROBLEM_CODES).map(([code, { title, status }]) => [
    code,
    headText(typeOf(code), title, status),
  ]),
)

function headOf(error: HttpError): string {
  const { code, status, type, title } = error
  const entry = entryOf(code)
  if (entry?.status === status && type === undefined && title === undefined) return HEADS.get(code)!
  return headText(type ?? typeOf(code), title ?? entry?.title ?? STATUS_CODES[status] ?? 'Error', status)
}

function headText(type: string, title: string, status: number): string {
  return `{"type":${quote(type)},"title":${quote(title)},"status":${status}`
}

/** Extension members come from applications. If one of them has no JSON form, the problem is sent without them. */
function membersOf(extensions: HttpError['extensions']): string {
  let text = ''
  try {
    for (const name of Object.keys(extensions)) {
      if (STANDARD.has(name)) continue
      const value = JSON.stringify(extensions[name]) as string | undefined
      if (value !== undefined) text += `,${JSON.stringify(name)}:${value}`
    }
    return text
  } catch {
    return ''
  }
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
