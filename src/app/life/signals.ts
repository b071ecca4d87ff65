import { constants } from 'node:os'
import { isWorker } from '../../support/env/process-share.ts'
import { closeAsWorker } from './worker-signals.ts'

/** Signals that end a process. A second one ends it immediately. */
const ENDING = ['SIGTERM', 'SIGINT'] as const
/** Signals that reload several workers. One process cannot reload, so it closes, and its supervisor starts it again. */
const RELOADING = ['SIGHUP', 'SIGUSR2'] as const

type ClosingSignal = (typeof ENDING)[number] | (typeof RELOADING)[number]

/** Closes the application. After every signal but SIGINT it first serves on for its `drainDelay`. */
export type CloseOnSignal = (signal?: ClosingSignal) => Promise<void>

/**
 * Closes the application on the first signal, and exits with 1 if closing fails. After SIGTERM and SIGINT the exit code
 * is 0, and after SIGHUP and SIGUSR2 that of the signal, so that a supervisor sees an end that nobody asked for. A second
 * SIGTERM or SIGINT exits immediately with the signal's own code; a second SIGHUP or SIGUSR2 does nothing. A worker of
 * `mortar start --workers` follows its primary process.
 * @returns a function that removes the handlers.
 */
export function closeOnSignals(close: CloseOnSignal): () => void {
  if (isWorker()) return closeAsWorker((signal) => exitAfter(close(signal), 0))
  let closing = false
  const begin = (signal: ClosingSignal, code: number): void => {
    closing = true
    exitAfter(close(signal), code)
  }
  const handlers = [
    ...ENDING.map((signal) =>
      listen(signal, () => (closing ? process.exit(codeOf(signal)) : begin(signal, 0))),
    ),
    ...RELOADING.map((signal) => listen(signal, () => closing || begin(signal, codeOf(signal)))),
  ]
  return () => {
    if (!closing) for (const remove of handlers) remove()
  }
}

function listen(signal: ClosingSignal, handle: () => unknown): () => void {
  process.on(signal, handle)
  return () => process.off(signal, handle)
}

/** Exit code of a process that a signal ended, as shells report it. Windows does not know SIGUSR2. */
export function codeOf(signal: ClosingSignal): number {
  return 128 + (constants.signals[signal] ?? 0)
}

function exitAfter(closed: Promise<void>, code: number): void {
  closed.then(
    () => process.exit(process.exitCode ?? code),
    () => process.exit(1),
  )
}
