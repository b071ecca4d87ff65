/** Environment variables by name. */
export type Variables = Record<string, string | undefined>

/** The process's own variables: the one place where the framework reads `process.env` (`test/architecture` holds that). */
export function processVariables(): Variables {
  return process.env
}

/**
 * The mode to run in, from `NODE_ENV`: `production` and `test` are themselves, anything else is `development`.
 * Surrounding blanks and capitals do not matter, so `Production` cannot open what production closes.
 */
export function readEnvironment(
  variables: Variables = processVariables(),
): 'development' | 'test' | 'production' {
  const mode = variables['NODE_ENV']?.trim().toLowerCase()
  return mode === 'production' || mode === 'test' ? mode : 'development'
}

/** Returns the text of `NODE_ENV` if it is set and not a mode, such as `prod`; else undefined. */
export function unknownMode(variables: Variables = processVariables()): string | undefined {
  const text = variables['NODE_ENV']?.trim()
  return text && !/^(?:development|test|production)$/i.test(text) ? text : undefined
}

/**
 * Whether the application is put together only to be inspected, as `mortar routes` and `mortar openapi` do: nothing
 * starts then, and readers of the environment give placeholders in place of what is not set.
 */
export function isInspecting(variables: Variables = processVariables()): boolean {
  return variables['FRAMEWORK_MODE'] === 'inspect'
}

/** Whether the process is a command of the CLI that serves nobody, and whose standard output is its result. */
export function isCommand(variables: Variables = processVariables()): boolean {
  return isInspecting(variables) || variables['FRAMEWORK_MODE'] === 'command'
}

/**
 * Address that `listen()` binds when it is given none: `HOST`, else every interface in production (undefined) and
 * loopback elsewhere, so that nobody else on the network reaches a development server.
 */
export function defaultHost(
  environment: 'development' | 'test' | 'production',
  variables: Variables = processVariables(),
): string | undefined {
  return variables['HOST']?.trim() || (environment === 'production' ? undefined : '127.0.0.1')
}

const DEFAULT_THREADS = 4
const MOST_THREADS = 1024

/**
 * Threads of libuv's pool, which files, DNS, compression and password hashes share: `UV_THREADPOOL_SIZE` as libuv
 * reads it, 4 by default and 1,024 at most.
 */
export function threadPoolSize(variables: Variables = processVariables()): number {
  const text = variables['UV_THREADPOOL_SIZE']
  if (text === undefined) return DEFAULT_THREADS
  // As C's atoi reads it: what is no number counts as 0, and 0 as 1.
  const size = Number.parseInt(text, 10) || 0
  return size < 0 ? MOST_THREADS : Math.min(Math.max(size, 1), MOST_THREADS)
}

/** The mode an application runs in, from `NODE_ENV`; anything that is not `production` or `test` is `development`. */
export type Environment = 'development' | 'test' | 'production'
