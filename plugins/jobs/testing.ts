import type { Job } from './job.ts'
import { runJob, type Attempt } from './run-job.ts'
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

/** Number of attempts after which a test has jobs that add each other without end. */
const MOST = 1000

/** Runs and reads the jobs of an application: `const jobs = testJobs(app)`. */
export function testJobs(app: TestedApp): TestJobs {
  const ready = async () => {
    await app.ready()
    return runtimeOf((app.services as { readonly jobs?: unknown }).jobs)
  }
  return {
    async run({ failing = [] } = {}) {
      const runtime = await ready()
      const { registry, engine, services } = runtime
      const parts = { engine, services, logger: services.logger, stopping: new AbortController().signal }
      const attempts: Attempt[] = []
      for (;;) {
        await engine.addScheduled(registry.schedules)
        const [claimed] = await engine.claim(registry.names, 1)
        if (claimed === undefined) break
        if (attempts.length === MOST)
          throw new Error(`More than ${MOST} jobs were due. The last was ${claimed.name}.`)
        attempts.push(await runJob(claimed, registry.find(claimed.name)!, parts))
      }
      const allowed = new Set(failing.map((job) => registry.loadedOf(job).name))
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
