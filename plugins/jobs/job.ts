import type {
  CoreServices,
  Cradle,
  Duration,
  KnownServices,
  Logger,
  Schema,
  ServicesOf,
  TypedApp,
} from 'mortar'
import type { DataOf, DurableEvent } from './durable-event.ts'

const JOB = Symbol.for('mortar.job')
declare const DATA: unique symbol

/** A moment that returns: a cron pattern of five fields, or six with seconds first. */
export interface Schedule {
  readonly cron: string
  /** IANA name of the time zone of the pattern: `'Europe/Berlin'`. `'UTC'` by default. */
  readonly timeZone?: string
  /**
   * Treatment of moments that passed more than a minute ago while no process ran: `'once'` adds one job for all of them,
   * `'skip'` none. `'once'` by default.
   */
  readonly missed?: 'once' | 'skip'
}

/** Input of the handler of a job. */
export interface JobInput<Data, Services = Cradle<CoreServices & KnownServices>> {
  readonly id: string
  readonly data: Data
  /** Number of this attempt, from 1. A higher number may repeat work that an earlier attempt has done. */
  readonly attempt: number
  /** Services of the application by name. */
  readonly services: Services
  /** Logger whose lines name the job, and the request that added it. */
  readonly log: Logger
  /** Aborts after `timeout`, when the process stops, and when another process has taken the job over. */
  readonly signal: AbortSignal
}

/** Options of a job. */
export interface JobOptions<Data> {
  /** Number of attempts before the job stays as `failed`; 10 by default. */
  readonly attempts?: number
  /** Delay after the first failed attempt; doubles with each further one, up to an hour. `'10s'` by default. */
  readonly backoff?: Duration
  /** Time limit of an attempt; `'15m'` by default. */
  readonly timeout?: Duration
  /** Number of attempts at the same time in one process; by default only the limit of the brick. */
  readonly concurrency?: number
  /** Key of the data, if it has one: while a job with this key waits or runs, a second one is not added. */
  readonly key?: (data: Data) => string | undefined
  /** Adds the job at these moments: a cron pattern in UTC, or `{ cron, timeZone, missed }`. Such a job has no data. */
  readonly every?: string | Schedule
}

/** The definition of a job: its options and the schema of its data. */
export interface JobDefinition<S> extends JobOptions<DataOf<S>> {
  /** A yup schema or a Standard Schema validator. Data is validated when a job is added and before each attempt. */
  readonly data?: S
  /** The event that the job subscribes to: each time it is published, the job is added with its data. */
  readonly on?: DurableEvent<S>
}

/** A job: the default export of a file in the directory of jobs. */
export interface Job<Data = unknown> {
  readonly [JOB]: true
  /** Carries the type of the data; no value has this key. */
  readonly [DATA]?: (data: Data) => void
  readonly definition: JobOptions<never> & { readonly data?: Schema; readonly on?: DurableEvent }
  readonly run: (input: JobInput<never, never>) => unknown
}

/** The form of `job` for the services of one application. */
export type JobMaker<Services> = <S extends Schema | undefined = undefined>(
  definition: JobDefinition<S>,
  run: (input: JobInput<DataOf<S>, Services>) => unknown,
) => Job<DataOf<S>>

/**
 * Defines a job: `data` of the handler is typed from the schema. The name of the job is the path of its file. A job runs
 * at least once, so its handler must allow for a repetition.
 */
export function job<S extends Schema | undefined = undefined>(
  definition: JobDefinition<S>,
  run: (input: JobInput<DataOf<S>>) => unknown,
): Job<DataOf<S>> {
  // The types of data and services are those that the runner passes.
  return { [JOB]: true, definition: definition as never, run }
}

/** Returns a `job` whose `services` are those of an application: `export const job = jobFor<typeof app>()`. */
export function jobFor<A extends TypedApp>(): JobMaker<
  ServicesOf<A> & Omit<CoreServices, keyof ServicesOf<A>>
> {
  return job as never
}

/** True for a result of `job`, also from another copy of the package. */
export function isJob(value: unknown): value is Job {
  return typeof value === 'object' && value !== null && JOB in value
}
