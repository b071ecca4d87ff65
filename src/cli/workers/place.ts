import { type BackOff, createBackOff } from './back-off.ts'
import type { RestartReason } from './messages.ts'
import type { WorkerEnd, WorkerProcess } from './worker-process.ts'

/** One of the workers that the primary process keeps running. */
export interface Place {
  readonly number: number
  readonly backOff: BackOff
  /** The worker that serves, or starts to. */
  current: Member | undefined
  /** True while a reload starts another worker for this place. */
  isReplacing: boolean
  /** Cancels the restart that waits. */
  cancelRestart: (() => void) | undefined
}

/** A running worker. */
export interface Member {
  readonly worker: WorkerProcess
  /** Time in seconds at which it became ready. */
  readyAt: number | undefined
  /** Reason for which the primary process has killed it. */
  endedFor?: RestartReason
}

/** Creates the places of all workers. */
export function createPlaces(count: number): readonly Place[] {
  return Array.from({ length: count }, (_, index) => ({
    number: index + 1,
    backOff: createBackOff(),
    current: undefined,
    isReplacing: false,
    cancelRestart: undefined,
  }))
}

/** Describes the end of a worker: `Worker 2 ended before it was ready (exit code 3).` */
export function describeEnd({ worker, readyAt }: Member, { code, signal }: WorkerEnd): string {
  const how = signal === null ? `exit code ${code}` : `signal ${signal}`
  return `Worker ${worker.number} ended${readyAt === undefined ? ' before it was ready' : ''} (${how}).`
}
