import type { Cradle } from 'mortar'
import type { JobEngine } from './engine.ts'
import type { Registry } from './registry.ts'
import { runJob, type Attempt } from './run-job.ts'

/** Number of attempts after which a test has jobs that add each other without end. */
const MOST = 1000

/** The jobs that a test runs. */
export interface DueJobs {
  readonly engine: JobEngine
  readonly registry: Registry
  readonly services: Cradle
  readonly names: readonly string[]
  /** Undefined adds no jobs of schedules. */
  readonly schedules?: Registry['schedules']
}

/** Runs the due jobs of these names under test, one after another, and the jobs that those add. */
export async function runDue({ engine, registry, services, names, schedules }: DueJobs): Promise<Attempt[]> {
  const parts = { engine, services, logger: services.logger, stopping: new AbortController().signal }
  const attempts: Attempt[] = []
  for (;;) {
    if (schedules !== undefined) await engine.addScheduled(schedules)
    const [claimed] = await engine.claim(names, 1)
    if (claimed === undefined) return attempts
    if (attempts.length === MOST)
      throw new Error(`More than ${MOST} jobs were due. The last was ${claimed.name}.`)
    attempts.push(await runJob(claimed, registry.find(claimed.name)!, parts))
  }
}
