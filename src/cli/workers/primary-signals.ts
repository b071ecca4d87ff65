import type { EventEmitter } from 'node:events'
import { codeOf } from '../../app/life/signals.ts'
import { watchTerminal } from './closed-terminal.ts'
import type { Primary } from './primary.ts'

/** Milliseconds in which further signals belong to the first: npm repeats the SIGINT of Ctrl+C. */
const SAME_SIGNAL = 100

/**
 * Follows the signals of the primary process: SIGTERM and SIGINT close all workers, a second one kills them, and SIGHUP
 * and SIGUSR2 reload. The SIGHUP of a closed terminal closes the workers.
 * @returns a function that returns the exit code of the second signal, or undefined if there was only one.
 */
export function handleSignals(
  primary: Pick<Primary, 'stop' | 'kill'> & { reload(): unknown },
  source: EventEmitter = process,
  terminalIsClosed = watchTerminal(),
): () => number | undefined {
  let first: number | undefined
  let code: number | undefined
  const end = (signal: 'SIGINT' | 'SIGTERM'): void => {
    if (first === undefined) {
      first = performance.now()
      primary.stop(signal === 'SIGTERM' ? 'stop' : 'close')
    } else if (performance.now() - first > SAME_SIGNAL) {
      code = codeOf(signal)
      primary.kill()
    }
  }
  source.on('SIGTERM', () => end('SIGTERM')).on('SIGINT', () => end('SIGINT'))
  source.on('SIGHUP', () => (terminalIsClosed() ? primary.stop('close') : void primary.reload()))
  source.on('SIGUSR2', () => void primary.reload())
  return () => code
}
