import { setMaxListeners } from 'node:events'
import type { Cradle } from 'mortar'
import { ignore, withDeadline } from 'mortar/kit'
import { boundedWork } from './bounded-work.ts'
import type { ClaimedJob, JobEngine } from './engine.ts'
import { lookRegularly } from './look-regularly.ts'
import type { KnownJob, Registry } from './registry.ts'
import { runJob, type Attempts } from './run-job.ts'

/** Milliseconds between two deletions of old failed jobs. */
const PRUNE_EVERY = 600_000
/** Milliseconds for which a handler may end after its signal was aborted. */
const LAST_WORDS = 1000

/** Works on the jobs of one process. */
export type Worker = ReturnType<typeof createWorker>

/** Limits of a worker. Times are milliseconds. */
export interface WorkerSettings {
  readonly concurrency: number
  readonly keep: number
  readonly patience: number
}

export function createWorker(
  registry: Registry,
  parts: Omit<Attempts, 'stopping'>,
  { concurrency, keep, patience }: WorkerSettings,
) {
  const { engine, services } = parts
  const running = new Map<ClaimedJob, Promise<unknown>>()
  const stopping = new AbortController()
  // Each running job listens.
  setMaxListeners(0, stopping.signal)
  let isStopped = false
  const prune = boundedWork(pruning(engine, keep), logger(services, NOT_DELETED))
  function begin(claimed: ClaimedJob): void {
    const attempt = runJob(claimed, registry.find(claimed.name)!, { ...parts, stopping: stopping.signal })
      .catch((error: unknown) => services.outages.log({ ...NOT_STORED, error }))
      .finally(() => {
        running.delete(claimed)
        looks.wake()
      })
    running.set(claimed, attempt)
  }

  /** Claims until nothing is due or every place is taken. */
  async function claimAll(): Promise<void> {
    for (let found = 1; found > 0;) {
      found = 0
      const groups = claimable(registry, [...running.keys()], concurrency - running.size)
      for (const { names, limit } of isStopped ? [] : groups) {
        const claimed = await engine.claim(names, Math.min(limit, concurrency - running.size))
        for (const each of claimed) begin(each)
        found += claimed.length
      }
    }
  }

  const schedules = boundedWork(() => engine.addScheduled(registry.schedules), logger(services, NOT_ADDED))
  const looks = lookRegularly(async () => {
    await schedules.run()
    await claimAll()
    await prune.run()
  }, services.outages)

  const claimNothing = (): Promise<void> => {
    isStopped = true
    return looks.stop()
  }

  return {
    /** The looks for due jobs, which the start of the application begins. */
    looks,
    /** Ends the looks; running jobs go on. */
    claimNothing,
    /** Claims nothing more, waits, then aborts the signals and gives the leases back. */
    stop: () => claimNothing().then(() => endRunning(running, { engine, patience, stopping })),
    /** False if no look has succeeded for half a minute, or the schedules have not been read for so long. */
    get isWell() {
      return looks.isWell && !schedules.isLate
    },
  }
}

/** Waits for running jobs, aborts their signals, and gives back the others. */
async function endRunning(
  running: ReadonlyMap<ClaimedJob, Promise<unknown>>,
  { engine, patience, stopping }: Ending,
): Promise<void> {
  await settledWithin([...running.values()], patience)
  if (running.size === 0) return
  stopping.abort(new Error('The process stops.'))
  await settledWithin([...running.values()], LAST_WORDS)
  await Promise.allSettled([...running.keys()].map((job) => engine.settle(job, { is: 'returned' })))
}

interface Ending {
  readonly engine: JobEngine
  readonly patience: number
  readonly stopping: AbortController
}

/** Deletes old failed jobs once in a while. */
function pruning(engine: JobEngine, keep: number): () => Promise<void> {
  let pruneAt = performance.now() + PRUNE_EVERY * Math.random()
  return async () => {
    if (performance.now() < pruneAt) return
    pruneAt = performance.now() + PRUNE_EVERY
    await engine.prune(keep)
  }
}

const NOT_STORED = {
  part: 'results of jobs',
  message: 'The result of a job could not be stored, so it will be repeated',
}

const NOT_ADDED = { part: 'schedules of jobs', message: 'The jobs of schedules were not added' }
const NOT_DELETED = { part: 'old failed jobs', message: 'Old failed jobs were not deleted' }

/** Returns a function that logs an error with a line of its own. */
function logger({ outages }: Pick<Cradle, 'outages'>, line: typeof NOT_ADDED): (error: unknown) => void {
  return (error) => outages.log({ ...line, error })
}

interface Group {
  readonly names: readonly string[]
  readonly limit: number
}

/** Groups names by their free places: those without a limit of their own together, each other one alone. */
function claimable(registry: Registry, running: readonly ClaimedJob[], places: number): readonly Group[] {
  const jobs = registry.names.map((name) => registry.find(name)!)
  const isFree = ({ concurrency }: KnownJob): boolean => concurrency === Infinity
  const limited = jobs
    .filter((job) => !isFree(job))
    .map(({ name, concurrency }) => ({
      names: [name],
      limit: Math.min(places, concurrency - running.filter((each) => each.name === name).length),
    }))
  const free = { names: jobs.filter(isFree).map(({ name }) => name), limit: places }
  return [free, ...limited].filter(({ names, limit }) => names.length > 0 && limit > 0)
}

async function settledWithin(work: readonly Promise<unknown>[], milliseconds: number): Promise<void> {
  if (work.length === 0 || milliseconds === 0) return
  await withDeadline(Promise.allSettled(work), milliseconds / 1000).catch(ignore)
}
