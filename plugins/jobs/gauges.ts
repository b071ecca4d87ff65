import type { Gauges } from 'mortar'
import type { JobCounts, JobEngine } from './engine.ts'

/** Milliseconds for which counted jobs are used again. */
const FRESH = 10_000

const GAUGES = {
  jobs_waiting: ['Jobs that wait for a worker or for their moment.', 'waiting'],
  jobs_running: ['Jobs that a worker has claimed.', 'running'],
  jobs_failed: ['Jobs that have failed for good.', 'failed'],
  jobs_oldest_seconds: ['Seconds since the oldest waiting job was due.', 'oldest'],
} as const

/** Adds the gauges. The jobs are counted only while something reads them, and not more often than each ten seconds. */
export function addGauges(gauges: Gauges, engine: Pick<JobEngine, 'counts'>): void {
  let counts: JobCounts | undefined
  let countedAt = -Infinity
  function read(): JobCounts | undefined {
    if (performance.now() - countedAt > FRESH) {
      countedAt = performance.now()
      engine.counts().then(
        (found) => void (counts = found),
        () => void (counts = undefined),
      )
    }
    return counts
  }
  // All processes count the same table.
  for (const [name, [help, key]] of Object.entries(GAUGES))
    gauges.add(name, { help, combine: 'max', read: () => read()?.[key] })
}
