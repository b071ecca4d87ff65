import type { CloseOptions } from '../app.ts'
import type { ResolvedOptions } from '../options.ts'
import { closeOnSignals } from './signals.ts'
import { closeOnUncaughtErrors } from './uncaught-errors.ts'

/**
 * Closes an application and ends the process on a signal or an uncaught error.
 * @returns a function that removes the handlers.
 */
export function endWithProcess(
  { drainDelay, logger }: Pick<ResolvedOptions, 'drainDelay' | 'logger'>,
  close: (options: CloseOptions) => Promise<void>,
): () => void {
  const removers = [
    // Ctrl+C and the end of the primary process do not wait for load balancers.
    closeOnSignals((signal = 'SIGINT') => close({ drainDelay: signal === 'SIGINT' ? 0 : drainDelay })),
    closeOnUncaughtErrors({ logger, close: () => close({}) }),
  ]
  return () => {
    for (const remove of removers) remove()
  }
}
