import type { Logger } from '../contracts/logger.ts'
import { StartupError } from '../errors/startup-error.ts'

interface Environment {
  readonly environment: string
  readonly logger: Logger
}

/**
 * Runs a check at the start of a brick, such as that its tables exist. Outside production a `StartupError` is a warning,
 * because a migration may be about to create the missing part.
 * @returns undefined after a warning.
 * @throws StartupError in production; any other error.
 */
export async function requireInProduction<T>(
  { environment, logger }: Environment,
  brick: string,
  check: () => T | Promise<T>,
): Promise<T | undefined> {
  try {
    return await check()
  } catch (error) {
    if (environment === 'production' || !(error instanceof StartupError)) throw error
    const { code, message } = error
    logger.warn({ brick, code }, `${message} Production refuses to start without it.`)
    return undefined
  }
}
