import { describeError } from './describe-error.ts'
import { PROBLEM_CODES, type ProblemCode } from './codes.ts'
import { FoundIssue } from './found-issue.ts'
import { type HttpError, isHttpError } from './http-error.ts'
import { CORE_PROBLEMS, fixedText, type FixedText, type ProblemTable, quote } from './problem-table.ts'
import { STATUS_CODES } from './status-names.ts'

/** Media type of every error response (RFC 9457 §3). */
export const PROBLEM_TYPE = 'application/problem+json'

/** Members of a problem document that an extension never replaces. */
const STANDARD = new Set(['type', 'title', 'status', 'detail', 'code', 'instance'])

/** Settings of `problemText`. */
export interface ProblemSettings {
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
export function problemText(thrown: unknown, instance: string, options: ProblemSettings): string {
  const { exposeUnexpected, problems = CORE_PROBLEMS } = options
  if (isHttpError(thrown)) return deliberate(thrown, instance, problems)
  const detail = exposeUnexpected ? messageOf(thrown) : 'The server failed to process this request.'
  return textOf(CORE_PROBLEMS.get('internal_error')!, { detail, instance }, '')
}

/** Renders the problem of a code of the core, where no error object exists. */
export function problemOfCode(code: ProblemCode, detail: string, instance: string): string {
  return textOf(CORE_PROBLEMS.get(code)!, { detail, instance }, '')
}

/** Status of the response to a thrown value. */
export function problemStatus(thrown: unknown): number {
  return isHttpError(thrown) ? thrown.status : PROBLEM_CODES.internal_error.status
}

/** Members that differ between two problems of one code. */
interface Particulars {
  readonly detail: string
  /** A request id, which needs no escapes; undefined where two responses must have identical bytes. */
  readonly instance: string | undefined
}

function deliberate(error: HttpError, instance: string, problems: ProblemTable): string {
  const own = { detail: error.message, instance: error.instance ? instance : undefined }
  return textOf(fixedTextOf(error, problems), own, membersOf(error.extensions))
}

/** Concatenated: `JSON.stringify` of the whole document takes three times as long. */
function textOf({ head, codeMember }: FixedText, { detail, instance }: Particulars, members: string): string {
  const id = instance === undefined ? '' : `,"instance":"${instance}"`
  return `${head},"detail":${quote(detail)}${codeMember}${id}${members}}`
}

function fixedTextOf(error: HttpError, problems: ProblemTable): FixedText {
  const { code, status, type, title } = error
  const known = problems.get(code)
  if (known?.status === status && type === undefined && title === undefined) return known
  return fixedText(code, {
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
      const value = FoundIssue.textOf(extensions[name])
      if (value !== undefined) text += `,${quote(name)}:${value}`
    }
    return text
  } catch {
    return ''
  }
}

function messageOf(thrown: unknown): string {
  const { type, message } = describeError(thrown)
  return message || type
}
