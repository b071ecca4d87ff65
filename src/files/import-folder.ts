import { readdir } from 'node:fs/promises'
import { isAbsolute, join, sep } from 'node:path'
import { fileURLToPath, pathToFileURL } from 'node:url'
import type { DoctorFinding } from '../contracts/doctor-finding.ts'
import type { BrickStartupErrorOptions } from '../errors/brick-errors.ts'
import { StartupError, StartupErrors } from '../errors/startup-error.ts'

/** A file of a folder whose modules a brick imports. */
export interface FolderFile {
  /** Absolute path. */
  readonly path: string
  /** Path in the folder with `/` and without extension: `reports/nightly`. */
  readonly name: string
}

/** The brick's part of `importFolder`. */
export interface FolderReader<T> {
  /** Noun for messages: `directory of jobs`. */
  readonly of: string
  /** Makes the error of a folder or a file. */
  readonly fault: (
    kind: 'directory' | 'file',
    found: string,
    options?: BrickStartupErrorOptions,
  ) => StartupError
  /** Reads the default export of a file. @throws StartupError */
  readonly read: (value: unknown, file: FolderFile, others: readonly T[]) => T
}

/**
 * Imports every module below a folder, in code-unit order. Files and folders whose names begin with `_` or `.`,
 * `node_modules`, tests and declarations are ignored.
 * @param directory an absolute path or a `file:` URL.
 * @returns what `read` has returned, and a problem for each broken file.
 * @throws StartupError for a relative path, and for a folder that cannot be read.
 */
export async function importFolder<T>(
  directory: string | URL,
  reader: FolderReader<T>,
): Promise<{
  readonly folder: string
  readonly found: readonly T[]
  readonly problems: readonly StartupError[]
}> {
  const folder = directory instanceof URL ? fileURLToPath(directory) : directory
  if (!isAbsolute(folder)) throw reader.fault('directory', `The ${reader.of} '${folder}' is a relative path.`)
  const found: T[] = []
  const problems: StartupError[] = []
  for (const file of await listFiles(folder, reader)) {
    const path = join(folder, file)
    const name = file.slice(0, file.lastIndexOf('.'))
    try {
      const { default: value } = (await import(pathToFileURL(path).href)) as { readonly default?: unknown }
      found.push(reader.read(value, { path, name }, found))
    } catch (error) {
      problems.push(error instanceof StartupError ? error : unusable(path, error, reader))
    }
  }
  return { folder, found, problems }
}

const IS_MODULE = /\.(?:m?[jt]s|[jt]sx)$/
const IS_OTHER = /\.(?:test|spec|d)\.m?[jt]sx?$|(?:^|\/)(?:[_.]|node_modules\/)/

async function listFiles(
  folder: string,
  { of, fault }: Pick<FolderReader<never>, 'of' | 'fault'>,
): Promise<readonly string[]> {
  try {
    const files = (await readdir(folder, { recursive: true })).map((file) => file.split(sep).join('/'))
    return files
      .filter((file) => IS_MODULE.test(file) && !IS_OTHER.test(file))
      .toSorted((one, other) => (one < other ? -1 : 1))
  } catch (cause) {
    throw fault('directory', `The ${of} ${folder} cannot be read.`, { cause })
  }
}

function unusable(path: string, cause: unknown, { fault }: Pick<FolderReader<never>, 'fault'>): StartupError {
  const reason = cause instanceof Error ? cause.message : String(cause)
  const options = { files: [path], remedy: 'Correct the file.', cause }
  return fault('file', `${path} cannot be imported: ${reason}`, options)
}

/** Returns the faults of a load as findings for `mortar doctor`. `page` explains them. */
export async function findingsOf(
  load: () => Promise<unknown>,
  page: string,
): Promise<readonly DoctorFinding[]> {
  try {
    await load()
    return []
  } catch (error) {
    const errors = error instanceof StartupErrors ? error.errors : [error as StartupError]
    return errors.map(({ code, found, remedy }) => ({ level: 'error', code, found, remedy, page }))
  }
}
