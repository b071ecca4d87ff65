import { readResolution } from '../compat/awilix.ts'
import { StartupError } from '../errors/startup-error.ts'
import { ignore } from '../support/ignore.ts'
import { nearest } from '../support/nearest.ts'

/**
 * Turns a failed resolution into an error for the developer: the service, its owner, the dependency path and the
 * remedy. An error that a factory throws becomes the cause.
 */
export function explainResolution(
  error: unknown,
  name: string,
  owner: string,
  known: readonly string[],
): StartupError {
  if (error instanceof StartupError) return error
  const failed = readResolution(error)
  if (failed === undefined) return failedFactory(error, name, owner)
  const { kind, path = name, missing = name } = failed
  if (kind === 'lifetime') return shorterLifetime(path, owner, { cause: error })
  if (kind === 'circular') return circle(path, { cause: error })
  if (kind === 'unknown') return unresolved((error as Error).message, name, owner, { cause: error })
  const guess = nearest(missing, known)
  return new StartupError(
    `The service '${name}' of ${owner} depends on '${missing}', which is not registered: ${path}.`,
    {
      code: 'MORTAR_SERVICE_MISSING',
      remedy: guess
        ? `Did you mean '${guess}'?`
        : `Use the brick that provides '${missing}', or app.provide it.`,
      cause: error,
    },
  )
}

/**
 * Returns the error for a resolution that failed during a request: an explained error if awilix refused it, or the
 * unchanged error of a factory.
 */
export function explainInRequest(
  error: unknown,
  name: string,
  owner: string,
  known: readonly string[],
): unknown {
  const failed = readResolution(error)
  if (failed === undefined) return error
  const message =
    failed.missing === name && !failed.isNested
      ? `No service is named '${name}'. Register it with app.provide or through a brick.`
      : explainResolution(error, name, owner, known).message
  return new Error(message, { cause: error })
}

/** The error for a message of awilix that cannot be read: its own words say the reason. */
function unresolved(
  reason: string,
  name: string,
  owner: string,
  options: { readonly cause?: unknown },
): StartupError {
  return new StartupError(`The service '${name}' of ${owner} could not be resolved: ${reason}`, {
    code: 'MORTAR_SERVICE_MISSING',
    remedy: 'Register what the message of awilix names, or correct the lifetimes.',
    ...options,
  })
}

function failedFactory(cause: unknown, name: string, owner: string): StartupError {
  const reason = cause instanceof Error ? cause.message : String(cause)
  return new StartupError(`The service '${name}' of ${owner} could not be made: ${reason}`, {
    code: 'MORTAR_SERVICE_FACTORY',
    remedy: 'Fix its factory; the cause of this error has the stack.',
    cause,
  })
}

/**
 * The error for a singleton that is a promise: its users would get the promise, and a rejection would end the process.
 * A scoped service may be a promise, which a handler awaits.
 */
export function asynchronous(made: Promise<unknown>, name: string, owner: string): StartupError {
  made.catch(ignore)
  return new StartupError(`The singleton '${name}' of ${owner} is a promise: its factory is asynchronous.`, {
    code: 'MORTAR_SERVICE_PROMISE',
    remedy: `Make the object in the factory and connect it in the \`start\` of a brick, or await it before: ${name}: value(await …).`,
  })
}

function shorterLifetime(
  path: string,
  owner: string,
  options: { readonly cause?: unknown } = {},
): StartupError {
  return new StartupError(
    `A service depends on one with a shorter lifetime: ${path} (registered by ${owner}).`,
    {
      code: 'MORTAR_SERVICE_LIFETIME',
      remedy:
        'Give the first service the shorter lifetime, or the second one a longer lifetime: asClass() and asFunction() of awilix are transient unless they have another lifetime.',
      ...options,
    },
  )
}

function circle(path: string, options: { readonly cause?: unknown } = {}): StartupError {
  return new StartupError(`Services depend on each other in a circle: ${path}.`, {
    code: 'MORTAR_SERVICE_CIRCULAR',
    remedy: 'Move the shared part into a third service.',
    ...options,
  })
}
