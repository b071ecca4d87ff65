import { seconds, type QueuedWork, type QueuedWorkOptions } from 'mortar/kit'
import type { DurableEvent } from './durable-event.ts'
import type { PlannedSchedule } from './engine.ts'
import type { Job, JobInput } from './job.ts'
import type { LoadedJob } from './load-jobs.ts'

/** Work that this process can run: a job of a file, or the work of another brick. */
export type KnownJob = Omit<LoadedJob, 'file' | 'job' | 'schedule'> & {
  /** Milliseconds. */
  readonly longestBackoff?: number
  readonly run: (input: unknown) => unknown
}

/** The jobs of an application by name. */
export interface Registry {
  readonly names: readonly string[]
  find(name: string): KnownJob | undefined
  /** @throws TypeError for a job that is not in the directory. */
  loadedOf(job: Job<never>): LoadedJob
  /** The jobs that subscribe to an event. */
  subscribersOf(event: DurableEvent): readonly LoadedJob[]
  readonly schedules: readonly PlannedSchedule[]
  /** Adds the work of another brick. */
  define(name: string, work: QueuedWork, options?: QueuedWorkOptions): KnownJob
  load(jobs: readonly LoadedJob[]): void
}

/** Work of bricks is tried for about half a day; it gives up earlier by itself. */
const BRICK_WORK = { attempts: 20, backoff: 10_000, timeout: 300_000, concurrency: Infinity } as const

export function createRegistry(): Registry {
  const known = new Map<string, KnownJob>()
  let files: readonly LoadedJob[] = []
  return {
    get names() {
      return [...known.keys()]
    },
    get schedules() {
      return files.flatMap(({ schedule }) => schedule ?? [])
    },
    find: (name) => known.get(name),
    loadedOf(job) {
      const found = files.find((each) => each.job === (job as Job))
      if (found !== undefined) return found
      throw new TypeError(
        'This job is not in the directory of jobs. Move its file there, and import the job from that file.',
      )
    },
    subscribersOf: (event) => files.filter(({ job }) => job.definition.on === event),
    define(name, work, { longestBackoff = '1h', ...options } = {}) {
      const limits = { ...BRICK_WORK, ...options, longestBackoff: seconds(longestBackoff) * 1000 }
      const run = ({ data, signal, id, attempt }: JobInput<unknown>): unknown =>
        work(data, signal, { id, number: attempt, isLast: attempt >= limits.attempts })
      const job: KnownJob = { ...limits, name, validate: (data) => data, run: run as KnownJob['run'] }
      known.set(name, job)
      return job
    },
    load(jobs) {
      files = jobs
      for (const each of jobs) known.set(each.name, { ...each, run: each.job.run as KnownJob['run'] })
    },
  }
}
