import { isWorker } from '../support/env/process-share.ts'
import { closeAsWorker } from './worker-signals.ts'

const SIGNALS = ['SIGTERM', 'SIGINT'] as const

/**
 * Closes the application on the first SIGTERM or SIGINT, and exits with 0, or with 1 if closing fails. The second
 * signal exits immediately with the signal's own code. A worker of `mortar start --workers` follows its primary process.
 * @returns a function that removes the handlers.
 */
export function closeOnSignals(close: () => Promise<void>): () => void {
  if (isWorker()) return closeAsWorker(() => exitAfter(close))
  let closing = false
  const handlers = SIGNALS.map((signal) => {
    const handle = (): void => {
      if (closing) process.exit(signal === 'SIGINT' ? 130 : 143)
      closing = true
      exitAfter(close)
    }
    process.on(signal, handle)
    return () => process.off(signal, handle)
  })
  return () => {
    if (!closing) for (const remove of handlers) remove()
  }
}

function exitAfter(close: () => Promise<void>): void {
  close().then(
    () => process.exit(0),
    () => process.exit(1),
  )
}
