import type { Duration } from 'mortar'
import { checkOptions, milliseconds, type OptionChecks } from 'mortar/kit'
import type { EngineMaker, JobEngine } from './engine.ts'
import { isDurableEvent } from './durable-event.ts'
import type { Job, JobDefinition, Schedule } from './job.ts'
import { fault } from './startup-codes.ts'

/** Options of `jobs()`. */
export interface JobsOptions {
  /** Folder of the job files: an absolute path or a `file:` URL. */
  readonly directory: string | URL
  /**
   * True to work on jobs in the process of the application, the default. With `false` it only adds them, and
   * `mortar work` runs them in a process of its own. Under test nothing runs by itself.
   */
  readonly run?: boolean
  /** Number of jobs that a process works on at the same time; 4 by default. */
  readonly concurrency?: number
  /** Time for which a failed job is kept; `'7d'` by default. */
  readonly keep?: Duration
  /** Time for which a stopping process waits for its jobs before it aborts their `signal`; `'8s'` by default. */
  readonly patience?: Duration
  /** The store of the jobs: by default the table `mortar_jobs` of the service `db`. Others are `bullmq()` and `pgBoss()`. */
  readonly engine?: JobEngine | EngineMaker
}

/** The options with defaults. Times are milliseconds. */
export type Settings = ReturnType<typeof readOptions>

const RULES: OptionChecks<JobsOptions>['keys'] = {
  directory: { is: ['string', 'object'], required: true },
  run: 'boolean',
  concurrency: 'count',
  keep: 'duration',
  patience: 'delay',
  engine: ['object', 'function'],
}

/** @throws StartupError `MORTAR_JOBS_OPTION`. */
export function readOptions(options: JobsOptions) {
  checkOptions(options, { of: 'jobs()', brick: 'jobs', keys: RULES, code: 'MORTAR_JOBS_OPTION' })
  const { directory, run = true, concurrency = 4, keep = '7d', patience = '8s', engine } = options
  return {
    directory,
    run,
    concurrency,
    keep: milliseconds(keep),
    patience: milliseconds(patience),
    engine,
  }
}

/** The options of a job with defaults. Times are milliseconds. */
export type JobSettings = Readonly<ReturnType<typeof readDefinition>>

const JOB_RULES: OptionChecks<JobDefinition<never>>['keys'] = {
  data: 'anything',
  attempts: 'count',
  backoff: 'duration',
  timeout: 'period',
  concurrency: 'count',
  key: 'function',
  on: 'object',
  every: ['string', 'object'],
}
const SCHEDULE_RULES: OptionChecks<Schedule>['keys'] = {
  cron: { is: 'string', required: true },
  timeZone: 'string',
  missed: 'string',
}

/** @throws StartupError `MORTAR_JOBS_OPTION` naming the file. */
export function readDefinition(definition: Job['definition'], file: string) {
  checkKeys(definition, file)
  const { attempts = 10, backoff = '10s', timeout = '15m', concurrency = Infinity } = definition
  return { attempts, backoff: milliseconds(backoff), timeout: milliseconds(timeout), concurrency }
}

function checkKeys(definition: Job['definition'], file: string): void {
  const { data, key, on, every } = definition
  const checks = { brick: 'jobs', code: 'MORTAR_JOBS_OPTION' }
  checkOptions(definition, { ...checks, of: `the job ${file}`, keys: JOB_RULES })
  const refuse = (found: string): never => {
    throw fault('MORTAR_JOBS_OPTION', `The job ${file} has ${found}.`, { files: [file] })
  }
  if (on !== undefined && !isDurableEvent(on)) refuse('an `on` that durableEvent() has not made')
  if (on !== undefined && data !== undefined) refuse('both `on` and `data`: its data is that of the event')
  if (every === undefined) return
  if (typeof every === 'object')
    checkOptions(every, { ...checks, of: `every of the job ${file}`, keys: SCHEDULE_RULES })
  if (data !== undefined || key !== undefined || on !== undefined)
    refuse('both `every` and `data`, `key` or `on`: a schedule gives a job no data')
}
