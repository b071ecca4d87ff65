import { readFileSync } from 'node:fs'
import { join } from 'node:path'
// Not by its name: an older Node would stop at that import, before it could be told its version.
import * as util from 'node:util'
import { StartupError } from '../../errors/startup-error.ts'
import { checkOptions } from '../check-options.ts'
import { type Variables, processVariables, readEnvironment } from './environment.ts'

/** Mode and target of the files; by default the process's variables and their `NODE_ENV`. */
export interface EnvFileOptions {
  readonly environment?: 'development' | 'test' | 'production'
  readonly variables?: Variables
}

/**
 * Reads the `.env` files of a directory into the environment. A variable that is already set stays. Otherwise the first
 * of `.env.local`, `.env.<environment>` and `.env` with the variable wins. `.env.local` belongs to one machine and is
 * skipped under test, so that tests are the same everywhere. Missing files are skipped.
 *
 * @returns the names of the files, in order of precedence.
 * @throws StartupError (`MORTAR_ENV_FILE`) if a file exists and cannot be read.
 */
export function loadEnvFiles(directory: string, options: EnvFileOptions = {}): string[] {
  checkOptions(options, { of: 'loadEnvFiles()', keys: { environment: 'string', variables: 'object' } })
  const variables = options.variables ?? processVariables()
  // `NODE_ENV` may itself be set in `.env`, also to production.
  const environment =
    options.environment ?? readEnvironment({ ...readEnvFile(directory, '.env'), ...variables })
  const names = ['.env.local', `.env.${environment}`, '.env']
  const read = names.filter((name) => environment !== 'test' || name !== '.env.local')
  return read.filter((name) => addTo(variables, readEnvFile(directory, name)))
}

function addTo(variables: Variables, found: Variables | undefined): boolean {
  for (const [name, value] of Object.entries(found ?? {})) if (!(name in variables)) variables[name] = value
  return found !== undefined
}

/** Returns the `.env` file of the working directory that has a value for a variable; undefined if none has. */
export function unloadedFileWith(name: string): string | undefined {
  return ['.env.local', `.env.${readEnvironment()}`, '.env'].find((file) => {
    try {
      return readEnvFile(process.cwd(), file)?.[name]?.trim()
    } catch {
      return false
    }
  })
}

function readEnvFile(directory: string, name: string): Variables | undefined {
  try {
    return variablesIn(readFileSync(join(directory, name)))
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return undefined
    const reason = error instanceof FormatError ? error : undefined
    throw new StartupError(`The environment file ${name} ${reason?.message ?? 'cannot be read'}.`, {
      code: 'MORTAR_ENV_FILE',
      remedy: reason?.remedy ?? 'Make it a text file that the process may read, or remove it.',
      files: [join(directory, name)],
      cause: error,
    })
  }
}

class FormatError extends Error {
  readonly remedy: string

  constructor(message: string, remedy: string) {
    super(message)
    this.remedy = remedy
  }
}

/** A quoted value, which may have several lines. */
const QUOTED = /=[^\S\n]*(["'`])[^]*?\1/g

/**
 * Reads the variables of a file. Editors of Windows begin a file with a byte order mark, which Node would read as a part of
 * the first name. @throws FormatError where Node would lose variables: in UTF-16, and at a line without `=`.
 */
function variablesIn(content: Buffer): Variables {
  const text = content.toString('utf8').replace(/^\ufeff/, '')
  if (text.includes('\0'))
    throw new FormatError('is not in UTF-8', 'Save it as UTF-8: `echo` of Windows PowerShell writes UTF-16.')
  // Versions of Node differ in what they make of a line without `=`.
  const lines = text.replaceAll(QUOTED, (value) => `=${value.replaceAll(/[^\n]/g, '')}`).split('\n')
  const line = lines.findIndex((each) => !/^\s*(#|$)|=/.test(each)) + 1
  if (line === 0) return util.parseEnv(text)
  throw new FormatError(`has no NAME=value in line ${line}`, 'Write NAME=value, or begin the line with #.')
}
