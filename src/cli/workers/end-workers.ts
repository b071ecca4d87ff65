import type { Member } from './place.ts'
import type { PrimaryContext } from './primary-context.ts'
import type { WorkerEnd, WorkerProcess } from './worker-process.ts'

/** Method of a worker that ends it. */
export type HowToEnd = keyof Pick<WorkerProcess, 'stop' | 'close' | 'replace'>

type EndContext = Pick<PrimaryContext, 'log' | 'clock'>

/**
 * Ends workers: they close, and a worker that exceeds its limit is killed.
 * @returns the exit code of the primary process: 1 if a worker was killed or failed to close, else 0.
 */
export async function endWorkers(
  members: readonly Member[],
  how: HowToEnd,
  context: EndContext,
): Promise<number> {
  const ends = await Promise.all(members.map((member) => endWorker(member, how, context)))
  return ends.every(isClean) ? 0 : 1
}

/** Ends one worker and resolves when its process is gone. */
export async function endWorker(
  { worker }: Member,
  how: HowToEnd,
  { log, clock }: EndContext,
): Promise<WorkerEnd> {
  const { number, pid, closesWithin } = worker
  const cancel = clock.after(closesWithin, () => {
    const fields = { event: 'worker.killed', worker: number, workerPid: pid }
    log.error(fields, `Worker ${number} did not close within ${closesWithin} s, so it is killed.`)
    worker.kill()
  })
  worker[how]()
  const end = await worker.ended
  cancel()
  return end
}

/** SIGTERM ends a worker that was not ready, and an application that does not handle signals. */
function isClean({ code, signal }: WorkerEnd): boolean {
  return code === 0 || signal === 'SIGTERM'
}
