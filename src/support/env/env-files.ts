import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { parseEnv } from 'node:util'
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

function readEnvFile(directory: string, name: string): Variables | undefined {
  try {
    return parseEnv(readFileSync(join(directory, name), 'utf8'))
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return undefined
    throw new StartupError(`The environment file ${name} cannot be read.`, {
      code: 'MORTAR_ENV_FILE',
      remedy: 'Make it a text file that the process may read, or remove it.',
      files: [join(directory, name)],
      cause: error,
    })
  }
}
