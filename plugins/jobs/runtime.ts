import { randomUUID } from 'node:crypto'
import { channel } from 'node:diagnostics_channel'
import type { Cradle, Duration, Schema } from 'mortar'
import {
  compileValidator,
  JOB_ADDED_CHANNEL,
  openTransaction,
  seconds,
  systemClock,
  type JobQueue,
  type ObservedJob,
} from 'mortar/kit'
import { writeData } from './data.ts'
import { databaseEngine } from './database/engine.ts'
import type { DataSourceLike } from './database/statements.ts'
import type { DurableEvent, Published } from './durable-event.ts'
import type { JobCounts, JobEngine, JobFilter, ListedJob, NewJob } from './engine.ts'
import type { Job } from './job.ts'
import { loadJobs, type LoadedJob } from './load-jobs.ts'
import type { Settings } from './options.ts'
import { createRegistry, type Registry } from './registry.ts'
import { runDue } from './run-due.ts'
import { createWorker, type Worker } from './worker.ts'

/** Options of one added job. */
export interface AddOptions {
  /** Delay before the first attempt. */
  readonly after?: Duration
  /** Moment of the first attempt. */
  readonly at?: Date
  /** While a job of the same file with this key waits or runs, another one is not added. At most 200 characters. */
  readonly key?: string
  /**
   * The manager of a transaction: the job exists when it commits. By default the transaction that `db.transaction` has
   * open around this call; `false` for none.
   */
  readonly tx?: unknown
}

/** The arguments of `add` after the job: the data, unless the job has none, and options. */
type Given<Data> = undefined extends Data
  ? [data?: Data, options?: AddOptions]
  : [data: Data, options?: AddOptions]

/** Adds jobs and publishes events: `ctx.jobs`. */
export interface JobAdder extends EventPublisher {
  /**
   * Validates the data and stores the job. @returns the id; undefined if one with its key waits or runs.
   * @throws InvalidJobData, and the database's error if the job could not be stored.
   */
  add<Data>(job: Job<Data>, ...given: Given<Data>): Promise<{ readonly id: string } | undefined>
}

/** Publishes events: `ctx.jobs`. */
export interface EventPublisher {
  /**
   * Validates the data and adds a job for each subscriber, all or none. Without subscribers nothing happens.
   * @throws InvalidJobData, and the database's error if the jobs could not be stored.
   */
  publish<S extends Schema | undefined>(event: DurableEvent<S>, ...given: Published<S>): Promise<void>
}

/** The service `jobs`. */
export interface Jobs extends JobAdder {
  /** Jobs in the order of their moments, without their data. */
  list(filter?: JobFilter): Promise<readonly ListedJob[]>
  /** Makes a failed job wait again. @returns false if no failed job has this id. */
  retry(id: string): Promise<boolean>
  /** Deletes a job that waits or has failed. @returns false if no such job exists. */
  remove(id: string): Promise<boolean>
  counts(): Promise<JobCounts>
}

/** The parts of the brick in one application. */
export interface Runtime {
  readonly jobs: Jobs
  readonly queue: JobQueue
  readonly registry: Registry
  readonly engine: JobEngine
  readonly services: Cradle
  readonly worker: Worker
  /** An adder whose jobs name the request. */
  adderFor(requestId: string): JobAdder
  /** Loads the job files, once. @throws StartupErrors */
  load(): Promise<void>
}

const runtimes = new WeakMap<object, Runtime>()

/** Returns what belongs to the service `jobs` of an application. */
export function runtimeOf(jobs: unknown): Runtime {
  const found = runtimes.get(jobs as object)
  if (found === undefined) throw new TypeError('The service `jobs` is not that of the jobs brick.')
  return found
}

const added = channel(JOB_ADDED_CHANNEL)

export function createRuntime(settings: Settings, services: Cradle): Runtime {
  const { logger } = services
  const db = services['db'] as DataSourceLike
  const registry = createRegistry()
  const engine = engineOf(settings, registry, services)
  const worker = createWorker(registry, { engine, services, logger }, settings)
  let loading: Promise<void> | undefined
  const load = (): Promise<void> =>
    (loading ??= loadJobs(settings.directory).then((found) => registry.load(found)))
  const store = storing({ engine, worker, services, db })
  const adderFor = (requestId?: string): JobAdder => {
    async function add(loaded: LoadedJob, given: unknown, options: AddOptions = {}) {
      const data = await writeData(loaded, given)
      const key = keyOf(options, () => loaded.job.definition.key?.(given as never))
      return store({ name: loaded.name, key, data, due: dueOf(options), requestId }, options.tx)
    }
    return {
      async add(job, ...[given, options]) {
        await load()
        return add(registry.loadedOf(job), given, options)
      },
      async publish(event, ...[given, options = {}]) {
        await load()
        const subscribers = registry.subscribersOf(event)
        await writeData(eventJob(event), given)
        await together(db, { count: subscribers.length, given: options.tx }, async (tx) => {
          for (const loaded of subscribers) await add(loaded, given, { tx })
        })
        worker.looks.wake()
      },
    }
  }
  const jobs = serviceOf(adderFor(), engine, worker)
  const queue = queueOf({ registry, engine, services }, store)
  const runtime: Runtime = { jobs, queue, registry, engine, services, worker, adderFor, load }
  runtimes.set(jobs, runtime)
  return runtime
}

/** Under test the jobs stay in the table, whose clock a test moves. */
function engineOf({ engine }: Settings, registry: Registry, services: Cradle): JobEngine {
  if (typeof engine === 'object') return engine
  const db = services['db'] as DataSourceLike
  const { clock, environment } = services
  if (engine !== undefined && environment !== 'test') return engine({ db, names: () => registry.names })
  const isFixed = environment === 'test' && clock !== systemClock
  return databaseEngine(db, isFixed ? () => clock.now() : undefined)
}

/** The form in which `writeData` checks the data of an event, also of one without subscribers. */
function eventJob({ name, data }: DurableEvent): Parameters<typeof writeData>[0] {
  return { name, validate: data === undefined ? undefined : compileValidator(data, 'body').validate }
}

/** Adds several jobs in the given transaction, else in one of their own. */
function together(
  db: DataSourceLike | undefined,
  { count, given }: { readonly count: number; readonly given: unknown },
  work: (tx: unknown) => Promise<void>,
): Promise<void> {
  const isOpen = given || (given === undefined && db !== undefined && openTransaction(db) !== undefined)
  return isOpen || count < 2 || db === undefined ? work(given) : db.transaction(work)
}

type Store = (job: Omit<NewJob, 'id' | 'trace'>, tx: unknown) => Promise<{ readonly id: string } | undefined>

function storing({
  engine,
  worker,
  services,
  db,
}: Pick<Runtime, 'engine' | 'worker' | 'services'> & { readonly db: DataSourceLike }): Store {
  return async (job, given) => {
    const id = randomUUID()
    const observed: ObservedJob = { id, name: job.name, attempt: 0, services, trace: undefined }
    added.publish(observed)
    const tx = given === undefined ? openTransaction(db) : given || undefined
    const isNew = await engine.add({ ...job, id, trace: observed.trace }, tx)
    if (isNew && tx === undefined) worker.looks.wake()
    return isNew ? { id } : undefined
  }
}

function serviceOf(adder: JobAdder, engine: JobEngine, worker: Worker): Jobs {
  return {
    ...adder,
    list: (filter) => engine.list(filter),
    async retry(id) {
      const isRetried = await engine.retry(id)
      if (isRetried) worker.looks.wake()
      return isRetried
    },
    remove: (id) => engine.remove(id),
    counts: () => engine.counts(),
  }
}

function queueOf(parts: Pick<Runtime, 'registry' | 'engine' | 'services'>, store: Store): JobQueue {
  const names: string[] = []
  const isTest = parts.services.environment === 'test'
  return {
    define(name, work, options) {
      const job = parts.registry.define(name, work, options)
      names.push(name)
      return async (given, tx) => {
        const origin = { key: undefined, due: { after: 0 }, requestId: undefined }
        return (await store({ name, data: await writeData(job, given), ...origin }, tx))!
      }
    },
    ...(isTest && { runDue: async () => void (await runDue({ ...parts, names })) }),
  }
}

function dueOf({ after = 0, at }: AddOptions): NewJob['due'] {
  if (at === undefined) return { after: seconds(after) * 1000 }
  if (Number.isNaN(at.getTime())) throw new RangeError('The option at of jobs.add is not a date.')
  return { at: at.getTime() }
}

function keyOf({ key }: AddOptions, standard: () => string | undefined): string | undefined {
  const found = key ?? standard()
  if (found !== undefined && (found.length === 0 || found.length > 200 || found.includes('\0')))
    throw new RangeError(
      'The key of a job is empty, longer than 200 characters, or has the character U+0000.',
    )
  return found
}
