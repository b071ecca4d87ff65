import { HttpError, type HttpErrorOptions } from './http-error.ts'
import type { Problems } from './codes.ts'
import { StartupError, type StartupErrorOptions } from './startup-error.ts'

/** One start-up code of a brick, as in the table of its documentation. */
export interface StartupCode {
  /** The fault, in one sentence without the actual value. */
  readonly cause: string
  /** The remedy, in one sentence. */
  readonly remedy: string
}

/** Start-up codes with causes and remedies: the slot `startupCodes` of a brick. */
export type StartupCodes = Readonly<Record<string, StartupCode>>

/** Options of an error from a brick's table, which contains the status and the code. */
export type ProblemErrorOptions = Omit<HttpErrorOptions, 'code'>

/**
 * Makes the errors of a brick's own problem codes: the table gives the status, and an unknown code is a type error.
 * `const problem = problemErrors(PROBLEMS)`, then `throw problem('counter_full', 'The counter is at its limit.')`.
 */
export function problemErrors<const Table extends Problems>(
  problems: Table,
): (code: keyof Table & string, detail: string, options?: ProblemErrorOptions) => HttpError {
  return (code, detail, options) => new HttpError(problems[code]!.status, detail, { ...options, code })
}

/** A brick, its start-up codes, and the page that explains them. */
export interface StartupErrorSource<Codes extends StartupCodes> {
  readonly brick: string
  readonly codes: Codes
  /** A URL, which `mortar doctor` prints beside the code. */
  readonly page?: string
}

/** Options of a start-up error from a brick's table. By default, the remedy is that of the table. */
export type BrickStartupErrorOptions = Partial<Pick<StartupErrorOptions, 'remedy' | 'files' | 'cause'>>

/**
 * Returns a function that makes `StartupError`s of a brick's codes, with the remedy of its table: `(code, found,
 * options)`.
 */
export function startupErrors<const Codes extends StartupCodes>({
  brick,
  codes,
  page,
}: StartupErrorSource<Codes>): (
  code: keyof Codes & string,
  found: string,
  options?: BrickStartupErrorOptions,
) => StartupError {
  const own = { brick, ...(page !== undefined && { page }) }
  return (code, found, options) =>
    new StartupError(found, { ...own, remedy: codes[code]!.remedy, ...options, code })
}
