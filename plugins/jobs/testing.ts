import type { Job } from './job.ts'
import { runDue } from './run-due.ts'
import { runtimeOf } from './runtime.ts'

/** The part of an application that tests of jobs use. */
interface TestedApp {
  readonly services: object
  ready(): Promise<unknown>
}

/** Options of `run`. */
export interface RunOptions {
  /** Jobs that may fail; any other failed attempt rejects. */
  readonly failing?: readonly Job<never>[]
}

/** The jobs of an application under test, where nothing runs by itself. */
export interface TestJobs {
  /**
   * Runs the jobs that are due by the clock of the application, one after another, and the jobs that those add.
   * @returns the number of attempts.
   * @throws the error of a job that is not among `failing`, after all others have run.
   */
  run(options?: RunOptions): Promise<number>
  /** The data of the jobs of a file that wait, the oldest first. */
  added<Data>(job: Job<Data>): Promise<readonly Data[]>
}

/** Runs and reads the jobs of an application: `const jobs = testJobs(app)`. */
export function testJobs(app: TestedApp): TestJobs {
  const ready = async () => {
    await app.ready()
    return runtimeOf((app.services as { readonly jobs?: unknown }).jobs)
  }
  return {
    async run({ failing = [] } = {}) {
      const runtime = await ready()
      const { names, schedules, loadedOf } = runtime.registry
      const attempts = await runDue({ ...runtime, names, schedules })
      const allowed = new Set(failing.map((job) => loadedOf(job).name))
      const failed = attempts.find(({ name, error }) => error !== undefined && !allowed.has(name))
      if (failed !== undefined) throw failed.error
      return attempts.length
    },
    async added(job) {
      const { engine, registry } = await ready()
      return (await engine.waiting(registry.loadedOf(job).name)).map((data) => JSON.parse(data))
    },
  }
}
