import { StartupError } from '../errors/startup-error.ts'
import type { RouteFileCode } from './codes.ts'

/** A broken convention before the files that break it are known: what was found, and what to write instead. */
export interface Finding {
  readonly code: RouteFileCode
  /** Ends the sentence that the name of the file begins: `has no method in its name`. */
  readonly found: string
  readonly remedy: string
  readonly cause?: unknown
}

/** A finding about one file or several; `files` are relative to the directory of routes. */
export function diagnostic(files: readonly string[], finding: Finding): StartupError {
  return about(listOf(files), files, finding)
}

/** A finding about a folder: it names the folder and the files in it that became no route because of it. */
export function folderDiagnostic(folder: string, files: readonly string[], finding: Finding): StartupError {
  return about(`The folder ${folder}/ (with ${listOf(files)})`, files, finding)
}

function about(subject: string, files: readonly string[], finding: Finding): StartupError {
  const { code, found, remedy, cause } = finding
  return new StartupError(`${subject} ${found}.`, {
    code,
    remedy,
    files,
    ...(cause === undefined ? {} : { cause }),
  })
}

/** `a`, `a and b`, `a, b and c`; of more than five the rest as a number. */
export function listOf(words: readonly string[]): string {
  const shown = words.length > 5 ? [...words.slice(0, 4), `${words.length - 4} more`] : words
  return shown.length < 2 ? (shown[0] ?? '') : `${shown.slice(0, -1).join(', ')} and ${shown.at(-1)}`
}

/** Puts the findings of a run in one order on every machine: by the first file, then by code. */
export function inFileOrder(errors: readonly StartupError[]): StartupError[] {
  const keyOf = (error: StartupError) => `${error.files[0] ?? ''}\0${error.code}\0${error.message}`
  return errors.toSorted((a, b) => byCodeUnits(keyOf(a), keyOf(b)))
}

/** Compares by code units: unlike `localeCompare` it gives the same order under every locale. */
export function byCodeUnits(a: string, b: string): number {
  return a < b ? -1 : a > b ? 1 : 0
}
