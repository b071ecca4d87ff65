import type { Logger } from '../../contracts/logger.ts'
import { describeError } from '../../errors/describe-error.ts'
import { readableError } from '../../support/readable-error.ts'
import { silentLogger } from '../log/logger.ts'

/** An application that an uncaught error ends. */
export interface Endangered {
  readonly logger: Logger
  /** Has a deadline of its own. */
  close(): Promise<void>
}

/** The listening applications of this process. They share one handler, so that an error is logged once. */
const running = new Set<Endangered>()
let isEnding = false

/**
 * Handles an uncaught exception or an unhandled rejection while the application listens: logs it in one line, closes the
 * application within its deadline and exits with 1. A second error exits immediately.
 * @returns a function that removes the handler.
 */
export function closeOnUncaughtErrors(application: Endangered): () => void {
  if (running.size === 0) process.on('uncaughtException', handleUncaught)
  running.add(application)
  return () => {
    running.delete(application)
    if (running.size === 0 && !isEnding) process.off('uncaughtException', handleUncaught)
  }
}

/** Node calls it for unhandled rejections too, unless the application listens for them itself. */
function handleUncaught(error: unknown, origin: NodeJS.UncaughtExceptionOrigin): void {
  const applications = [...running]
  for (const { logger } of applications.slice(0, 1)) report(logger, error, origin)
  if (isEnding) process.exit(1)
  isEnding = true
  // A signal may have begun to close the application, and exits with this code.
  process.exitCode = 1
  void end(applications)
}

async function end(applications: readonly Endangered[]): Promise<void> {
  await Promise.allSettled(applications.map(({ close }) => close()))
  process.exit(1)
}

function report(logger: Logger, error: unknown, origin: NodeJS.UncaughtExceptionOrigin): void {
  const words = origin === 'unhandledRejection' ? 'An unhandled rejection' : 'An uncaught exception'
  const message = `${words} ends the process`
  const print = (): void => void process.stderr.write(`${message}: ${readableError(error, 'stack')}\n`)
  // An application without a log, or with one that fails, still shows why it ended.
  if (logger === silentLogger) return print()
  try {
    logger.error({ event: 'process.uncaught', origin, err: describeError(error) }, message)
  } catch {
    print()
  }
}
