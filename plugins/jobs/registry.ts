import { milliseconds, type QueuedWork, type QueuedWorkOptions } from 'mortar/kit'
import type { DurableEvent } from './durable-event.ts'
import type { Job, JobInput } from './job.ts'
import type { LoadedJob } from './load-jobs.ts'

/** Work that this process can run: a job of a file, or the work of another brick. */
export type KnownJob = Omit<LoadedJob, 'file' | 'job' | 'schedule'> & {
  /** Milliseconds. */
  readonly longestBackoff?: number
  readonly run: (input: unknown) => unknown
}

/** The jobs of an application by name. */
export type Registry = ReturnType<typeof createRegistry>

/** Work of bricks is tried for about half a day; it gives up earlier by itself. */
const BRICK_WORK = { attempts: 20, backoff: 10_000, concurrency: Infinity } as const

export function createRegistry() {
  const known = new Map<string, KnownJob>()
  let files: readonly LoadedJob[] = []
  return {
    get names() {
      return [...known.keys()]
    },
    get schedules() {
      return files.flatMap(({ schedule }) => schedule ?? [])
    },
    find: (name: string) => known.get(name),
    /** @throws TypeError for a job that is not in the directory. */
    loadedOf(job: Job<never>) {
      const found = files.find((each) => each.job === (job as Job))
      if (found !== undefined) return found
      throw new TypeError(
        'This job is not in the directory of jobs. Move its file there, and import the job from that file.',
      )
    },
    /** The jobs that subscribe to an event. */
    subscribersOf: (event: DurableEvent) => files.filter(({ job }) => job.definition.on === event),
    /** Adds the work of another brick. */
    define(
      name: string,
      work: QueuedWork,
      { longestBackoff = '1h', timeout = '5m', ...options }: QueuedWorkOptions = {},
    ) {
      const times = { longestBackoff: milliseconds(longestBackoff), timeout: milliseconds(timeout) }
      const limits = { ...BRICK_WORK, ...options, ...times }
      const run = ({ data, signal, id, attempt }: JobInput<unknown>): unknown =>
        work(data, signal, { id, number: attempt, isLast: attempt >= limits.attempts })
      const job: KnownJob = { ...limits, name, validate: (data) => data, run: run as KnownJob['run'] }
      known.set(name, job)
      return job
    },
    load(jobs: readonly LoadedJob[]) {
      files = jobs
      for (const each of jobs) known.set(each.name, { ...each, run: each.job.run as KnownJob['run'] })
    },
  }
}
