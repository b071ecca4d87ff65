import { isWorker } from '../support/env/process-share.ts'
import { closeAsWorker } from './worker-signals.ts'

const SIGNALS = ['SIGTERM', 'SIGINT'] as const

/** Closes the application. After SIGTERM it first serves on for its `drainDelay`. */
export type CloseOnSignal = (signal?: (typeof SIGNALS)[number]) => Promise<void>

/**
 * Closes the application on the first SIGTERM or SIGINT, and exits with 0, or with 1 if closing fails. The second
 * signal exits immediately with the signal's own code. A worker of `mortar start --workers` follows its primary process.
 * @returns a function that removes the handlers.
 */
export function closeOnSignals(close: CloseOnSignal): () => void {
  if (isWorker()) return closeAsWorker((signal) => exitAfter(close(signal)))
  let closing = false
  const handlers = SIGNALS.map((signal) => {
    const handle = (): void => {
      if (closing) process.exit(signal === 'SIGINT' ? 130 : 143)
      closing = true
      exitAfter(close(signal))
    }
    process.on(signal, handle)
    return () => process.off(signal, handle)
  })
  return () => {
    if (!closing) for (const remove of handlers) remove()
  }
}

function exitAfter(closed: Promise<void>): void {
  closed.then(
    () => process.exit(process.exitCode ?? 0),
    () => process.exit(1),
  )
}
