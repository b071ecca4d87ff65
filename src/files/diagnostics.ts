import { StartupError } from '../errors/startup-error.ts'
import type { RouteFileCode } from '../routing/route-codes.ts'

/** A broken convention without its files: the fault, and the remedy. */
export interface Finding {
  readonly code: RouteFileCode
  /** Predicate of a sentence whose subject is the file: `has no method in its name`. */
  readonly found: string
  readonly remedy: string
  readonly cause?: unknown
}

/** A finding about one file or several; `files` are relative to the directory of routes. */
export function diagnostic(files: readonly string[], finding: Finding): StartupError {
  return about(listOf(files), files, finding)
}

/** Makes a finding about a folder. It names the folder and the files in it that did not become routes. */
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

/** `a`, `a and b`, `a, b and c`; the rest as a number if there are more than five. */
export function listOf(words: readonly string[]): string {
  const shown = words.length > 5 ? [...words.slice(0, 4), `${words.length - 4} more`] : words
  return shown.length < 2 ? (shown[0] ?? '') : `${shown.slice(0, -1).join(', ')} and ${shown.at(-1)}`
}

/** Sorts the findings of a run, by the first file and then by code, in the same order on every machine. */
export function inFileOrder(errors: readonly StartupError[]): StartupError[] {
  const keyOf = (error: StartupError) => `${error.files[0] ?? ''}\0${error.code}\0${error.message}`
  return errors.toSorted((a, b) => byCodeUnits(keyOf(a), keyOf(b)))
}

/** Compares by code units. Unlike `localeCompare`, the order is the same under every locale. */
export function byCodeUnits(a: string, b: string): number {
  return a < b ? -1 : a > b ? 1 : 0
}
