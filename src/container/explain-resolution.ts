import { readResolution } from '../compat/awilix.ts'
import { StartupError } from '../errors/startup-error.ts'
import { nearest } from '../support/nearest.ts'

/**
 * Says what a failed resolution means for the one who set the application up: which service, whose it is, the path
 * that led there and what to do. An error thrown by a factory itself becomes the cause.
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
  if (kind === 'lifetime')
    return new StartupError(`A service outlives what it asks for: ${path} (registered by ${owner}).`, {
      code: 'MORTAR_SERVICE_LIFETIME',
      remedy:
        'Give the first service the shorter lifetime, or pass it the value as an argument where it is used.',
      cause: error,
    })
  if (kind === 'circular')
    return new StartupError(`Services need each other in a circle: ${path}.`, {
      code: 'MORTAR_SERVICE_CIRCULAR',
      remedy: 'Move what both need into a third service.',
      cause: error,
    })
  const guess = nearest(missing, known)
  return new StartupError(
    `The service '${name}' of ${owner} asks for '${missing}', which nothing registers: ${path}.`,
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
 * The error for a resolution that failed during a request: in the framework's words when awilix refused it, unchanged when
 * a factory threw it.
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

function failedFactory(cause: unknown, name: string, owner: string): StartupError {
  const reason = cause instanceof Error ? cause.message : String(cause)
  return new StartupError(`The service '${name}' of ${owner} could not be made: ${reason}`, {
    code: 'MORTAR_SERVICE_FACTORY',
    remedy: 'Fix its factory; the cause of this error has the stack.',
    cause,
  })
}
