import { HttpError, type HttpErrorOptions } from './http-error.ts'
import type { Problems } from './codes.ts'
import { StartupError, type StartupErrorOptions } from './startup-error.ts'

/** One start-up code of a brick, as the table of its documentation has it. */
export interface StartupCode {
  /** What is wrong, in one sentence without the value that was found. */
  readonly cause: string
  /** What to do about it, in one sentence. */
  readonly remedy: string
}

/** Start-up codes with their causes and remedies, as the slot `startupCodes` of a brick has them. */
export type StartupCodes = Readonly<Record<string, StartupCode>>

/** Options of an error made from a brick's table, which knows its status and code. */
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

/** The brick whose start-up errors are made, its codes, and the page that explains them. */
export interface StartupErrorSource<Codes extends StartupCodes> {
  readonly brick: string
  readonly codes: Codes
  /** A URL, which `mortar doctor` prints beside the code. */
  readonly page?: string
}

/** Options of a start-up error made from a brick's table; the table gives the remedy unless this one is more precise. */
export type BrickStartupErrorOptions = Partial<Pick<StartupErrorOptions, 'remedy' | 'files' | 'cause'>>

/** Makes the `StartupError`s of a brick's own codes, with the remedy of its table: `(code, found, options)`. */
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
