import { basename, isAbsolute } from 'node:path'
import { StartupError } from '../errors/startup-error.ts'
import type { Finding } from '../routing/finding.ts'
import { listWords } from '../support/list-words.ts'
import { shownPath } from '../support/shown-path.ts'

/** Shows a file of the directory of routes in a message. */
type ShowFile = (file: string) => string

/** A finding about files; `files` are relative to the directory of routes, and so is the message at first. */
class FileDiagnostic extends StartupError {
  /** Makes the same finding with its files below a folder, as an editor or a terminal opens them: `routes/a.get.ts`. */
  readonly below: (folder: string) => StartupError

  constructor(describe: (show: ShowFile) => string, files: readonly string[], finding: Finding) {
    const { code, found, remedy, cause } = finding
    const options = { code, remedy, files, ...(cause === undefined ? {} : { cause }) }
    super(`${describe((file) => file)} ${found}.`, options)
    this.below = (folder) => new StartupError(`${describe((file) => `${folder}/${file}`)} ${found}.`, options)
  }
}

/** A finding about one file or several; `files` are relative to the directory of routes. */
export function diagnostic(files: readonly string[], finding: Finding): StartupError {
  return new FileDiagnostic((show) => listWords(files.map(show)), files, finding)
}

/** Makes a finding about a folder. It names the folder and the files in it that did not become routes. */
export function folderDiagnostic(folder: string, files: readonly string[], finding: Finding): StartupError {
  return new FileDiagnostic(
    (show) => `The folder ${show(folder)}/ (with ${listWords(files)})`,
    files,
    finding,
  )
}

/**
 * Returns the beginning of the origins of a directory's routes: its path from the working directory, such as `src/routes/`,
 * or only its name outside of that.
 */
export function prefixOf(directory: string): string {
  const path = shownPath(directory)
  return `${isAbsolute(path) ? basename(path) : path || '.'}/`
}

/** Names the files of findings as `shownPath` does. */
export function shownFrom(directory: string, errors: readonly StartupError[]): StartupError[] {
  const folder = shownPath(directory)
  return errors.map((error) =>
    error instanceof FileDiagnostic && folder !== '' ? error.below(folder) : error,
  )
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
