import type { EventEmitter } from 'node:events'
import { ignore } from '../../support/ignore.ts'

/** Message of the primary process to a worker that it replaces or stops without a delay. */
export const RETIRE = 'mortar:retire'

/**
 * Calls `close` once: on SIGTERM, after which the application drains, and without a delay on the message `RETIRE` or
 * when the primary process is gone. A worker ignores SIGINT,
 * because Ctrl+C reaches every process of the terminal, and every signal after the first: the primary process decides
 * when a worker must end immediately.
 * @param source the process.
 * @returns a function that removes the handlers.
 */
export function closeAsWorker(
  close: (signal?: 'SIGTERM') => void,
  source: EventEmitter = process,
): () => void {
  let closing = false
  const begin = (signal?: 'SIGTERM'): void => {
    if (closing) return
    closing = true
    close(signal)
  }
  const onSignal = (): void => begin('SIGTERM')
  const onMessage = (message: unknown): void => {
    if (message === RETIRE) begin()
  }
  const onDisconnect = (): void => begin()
  source.on('SIGTERM', onSignal).on('SIGINT', ignore).on('message', onMessage).on('disconnect', onDisconnect)
  return () => {
    if (closing) return
    source.off('SIGTERM', onSignal).off('message', onMessage).off('disconnect', onDisconnect)
  }
}
