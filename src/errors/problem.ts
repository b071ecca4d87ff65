import { PROBLEM_CODES } from './codes.ts'
import { type HttpError, isHttpError } from './http-error.ts'
import { CORE_PROBLEMS, headText, type ProblemTable, quote } from './problem-table.ts'
import { STATUS_CODES } from './status-names.ts'

/** Media type of every error response (RFC 9457 §3). */
export const PROBLEM_TYPE = 'application/problem+json'

/** Members of a problem document that an extension never replaces. */
const STANDARD = new Set(['type', 'title', 'status', 'detail', 'code', 'instance'])

/** Settings of `problemText`. */
export interface ProblemOptions {
  /** True outside production: the document of an unexpected error then contains its message. */
  readonly exposeUnexpected: boolean
  /** Problem codes of the application; the core's by default. */
  readonly problems?: ProblemTable
}

/**
 * Renders a thrown value as the text of an RFC 9457 problem document. An `HttpError` keeps its status and message; any
 * other value is a 500.
 * @param instance the request id, which the log lines of the request also carry
 */
export function problemText(thrown: unknown, instance: string, options: ProblemOptions): string {
  const { exposeUnexpected, problems = CORE_PROBLEMS } = options
  if (isHttpError(thrown)) return deliberate(thrown, instance, problems)
  const detail = exposeUnexpected ? messageOf(thrown) : 'The server failed to process this request.'
  return textOf(CORE_PROBLEMS.get('internal_error')!.head, { detail, code: 'internal_error', instance }, '')
}

/** Renders the problem of a code of the core, where no error object exists. */
export function problemOfCode(code: keyof typeof PROBLEM_CODES, detail: string, instance: string): string {
  return textOf(CORE_PROBLEMS.get(code)!.head, { detail, code, instance }, '')
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

function deliberate(error: HttpError, instance: string, problems: ProblemTable): string {
  const own = { detail: error.message, code: error.code, instance: error.instance ? instance : undefined }
  return textOf(headOf(error, problems), own, membersOf(error.extensions))
}

/** Concatenated: `JSON.stringify` of the whole document takes three times as long. */
function textOf(head: string, { detail, code, instance }: Particulars, members: string): string {
  const id = instance === undefined ? '' : `,"instance":${quote(instance)}`
  return `${head},"detail":${quote(detail)},"code":${quote(code)}${id}${members}}`
}

function headOf(error: HttpError, problems: ProblemTable): string {
  const { code, status, type, title } = error
  const known = problems.get(code)
  if (known?.status === status && type === undefined && title === undefined) return known.head
  return headText({
    type: type ?? known?.type ?? 'about:blank',
    title: title ?? known?.title ?? STATUS_CODES[status] ?? 'Error',
    status,
  })
}

/** Extension members come from applications. If JSON cannot express one of them, the problem is sent without them. */
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

function messageOf(thrown: unknown): string {
  if (thrown instanceof Error) return thrown.message || thrown.name
  return `A value that is not an Error was thrown: ${typeof thrown}.`
}
