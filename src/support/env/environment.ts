/** Environment variables by name. */
export type Variables = Record<string, string | undefined>

/**
 * The process's own variables: the only place where the framework reads `process.env` (`test/architecture` checks it).
 */
export function processVariables(): Variables {
  return process.env
}

/**
 * Returns the mode from `NODE_ENV`: `production`, `test`, or `development` for anything else. Surrounding blanks and
 * case are ignored, so that `Production` does not weaken production's rules.
 */
export function readEnvironment(
  variables: Variables = processVariables(),
): 'development' | 'test' | 'production' {
  const mode = variables['NODE_ENV']?.trim().toLowerCase()
  return mode === 'production' || mode === 'test' ? mode : 'development'
}

/** Returns the value of `NODE_ENV` if it is set and not a mode, such as `prod`; else undefined. */
export function unknownMode(variables: Variables = processVariables()): string | undefined {
  const text = variables['NODE_ENV']?.trim()
  return text && !/^(?:development|test|production)$/i.test(text) ? text : undefined
}

/**
 * True if the application is assembled only for inspection, as by `mortar routes` and `mortar openapi`: nothing starts,
 * and readers of the environment return placeholders for missing variables.
 */
export function isInspecting(variables: Variables = processVariables()): boolean {
  return variables['FRAMEWORK_MODE'] === 'inspect'
}

/** True in the serving process of `mortar dev`, which starts with broken route files and shows their errors. */
export function isDevServer(variables: Variables = processVariables()): boolean {
  return variables['FRAMEWORK_MODE'] === 'dev'
}

/** True in `mortar work`, which serves no requests but probes. */
export function isWorking(variables: Variables = processVariables()): boolean {
  return variables['FRAMEWORK_MODE'] === 'work'
}

/** True if the process is a CLI command that serves no requests and whose standard output is its result. */
export function isCommand(variables: Variables = processVariables()): boolean {
  return isInspecting(variables) || variables['FRAMEWORK_MODE'] === 'command'
}

/**
 * Default address of `listen()`: `HOST`, else every interface in production (undefined) and loopback in other modes, so
 * that other machines cannot reach a development server.
 */
export function defaultHost(
  environment: 'development' | 'test' | 'production',
  variables: Variables = processVariables(),
): string | undefined {
  return variables['HOST']?.trim() || (environment === 'production' ? undefined : '127.0.0.1')
}

/** Variable with the version of the application. `mortar start` sets it to that of the build. */
export const VERSION_VARIABLE = 'FRAMEWORK_VERSION'

/**
 * Returns the version of the application: at most 100 letters, digits and `. _ + -`. Undefined if it is not known, or is
 * another text.
 */
export function applicationVersion(variables: Variables = processVariables()): string | undefined {
  const text = variables[VERSION_VARIABLE]
  return text !== undefined && /^[\w.+-]{1,100}$/.test(text) ? text : undefined
}

/**
 * Variable with the folder of the files through which an operator reaches the processes of this machine. `mortar start`
 * sets it to `.framework` of the project.
 */
export const STATE_VARIABLE = 'FRAMEWORK_STATE'

const DEFAULT_THREADS = 4
const MOST_THREADS = 1024

/**
 * Returns the threads of libuv's pool, which files, DNS, compression and password hashes share: `UV_THREADPOOL_SIZE` as
 * libuv reads it, 4 by default and 1,024 at most.
 */
export function threadPoolSize(variables: Variables = processVariables()): number {
  const text = variables['UV_THREADPOOL_SIZE']
  if (text === undefined) return DEFAULT_THREADS
  // Like C's atoi: a value that is not a number counts as 0, and 0 as 1.
  const size = Number.parseInt(text, 10) || 0
  return size < 0 ? MOST_THREADS : Math.min(Math.max(size, 1), MOST_THREADS)
}

/** Mode of an application, from `NODE_ENV`; anything that is not `production` or `test` is `development`. */
export type Environment = 'development' | 'test' | 'production'
