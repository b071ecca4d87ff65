import { StartupError } from '../errors/startup-error.ts'
import type { Finding } from '../routing/finding.ts'
import { listWords } from '../support/list-words.ts'

/** A finding about one file or several; `files` are relative to the directory of routes. */
export function diagnostic(files: readonly string[], finding: Finding): StartupError {
  return about(listWords(files), files, finding)
}

/** Makes a finding about a folder. It names the folder and the files in it that did not become routes. */
export function folderDiagnostic(folder: string, files: readonly string[], finding: Finding): StartupError {
  return about(`The folder ${folder}/ (with ${listWords(files)})`, files, finding)
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

/** Sorts the findings of a run, by the first file and then by code, in the same order on every machine. */
export function inFileOrder(errors: readonly StartupError[]): StartupError[] {
  const keyOf = (error: StartupError) => `${error.files[0] ?? ''}\0${error.code}\0${error.message}`
  return errors.toSorted((a, b) => byCodeUnits(keyOf(a), keyOf(b)))
}

/** Compares by code units. Unlike `localeCompare`, the order is the same under every locale. */
export function byCodeUnits(a: string, b: string): number {
  return a < b ? -1 : a > b ? 1 : 0
}
