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
  const environment = options.environment ?? environmentOf(directory, variables)
  const names = ['.env.local', `.env.${environment}`, '.env']
  const read = names.filter((name) => environment !== 'test' || name !== '.env.local')
  return read.filter((name) => addTo(variables, readEnvFile(directory, name)))
}

/** `NODE_ENV` may itself be set in `.env`, also to production. */
function environmentOf(directory: string, variables: Variables) {
  return readEnvironment({ ...readEnvFile(directory, '.env'), ...variables })
}

function addTo(variables: Variables, found: Variables | undefined): boolean {
  for (const [name, value] of Object.entries(found ?? {})) if (!(name in variables)) variables[name] = value
  return found !== undefined
}

/**
 * Reads the variables of a file. Editors of Windows begin a file with a byte order mark, which Node would read as a part of
 * the first name. @throws StartupError also where Node would lose variables: in UTF-16, and at a line without `=`.
 */
function readEnvFile(directory: string, name: string): Variables | undefined {
  const files = [join(directory, name)]
  const fault = (found: string, remedy: string, cause?: unknown): StartupError =>
    new StartupError(`The environment file ${name} ${found}.`, {
      code: 'MORTAR_ENV_FILE',
      remedy,
      files,
      cause,
    })
  let text: string
  try {
    text = readFileSync(files[0]!, 'utf8').replace(/^\ufeff/, '')
  } catch (cause) {
    if ((cause as NodeJS.ErrnoException).code === 'ENOENT') return undefined
    throw fault('cannot be read', 'Make it a text file that the process may read, or remove it.', cause)
  }
  if (text.includes('\0')) throw fault('is not in UTF-8', 'Save it as UTF-8.')
  // Versions of Node differ in what they make of a line without `=`.
  const lines = text.replaceAll(QUOTED, (value) => `=${value.replaceAll(/[^\n]/g, '')}`).split('\n')
  const line = lines.findIndex((each) => !/^\s*(#|$)|=/.test(each)) + 1
  if (line === 0) return util.parseEnv(text)
  throw fault(`has no NAME=value in line ${line}`, 'Write NAME=value, or begin the line with #.')
}

/** A quoted value, which may have several lines. */
const QUOTED = /=[^\S\n]*(["'`])[^]*?\1/g
