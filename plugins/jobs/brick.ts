import { defineBrick, singleton, type Brick, type BrickEntry } from 'mortar'
import {
  findingsOf,
  followTransactions,
  requireInProduction,
  schemaFindings,
  type JobQueue,
} from 'mortar/kit'
import { COMMANDS } from './commands.ts'
import type { DataSourceLike } from './database/statements.ts'
import { addGauges } from './gauges.ts'
import { loadJobs, type LoadedJob } from './load-jobs.ts'
import { readOptions, type JobsOptions } from './options.ts'
import { createRuntime, runtimeOf, type JobAdder, type Jobs, type Runtime } from './runtime.ts'
import { fault, STARTUP_CODES } from './startup-codes.ts'

/** Services of the brick: `jobs`, and `jobQueue` for other bricks. */
export interface JobsServices {
  readonly jobs: Jobs
  readonly jobQueue: JobQueue
}

// Tells other bricks the types of the services, and policies the type of the member.
declare module 'mortar' {
  interface KnownServices extends JobsServices {}
  interface KnownMembers {
    readonly jobs: JobAdder
  }
}

/**
 * Work that outlives the response: `ctx.jobs.add(job, data)`, the service `jobs`, and the files of a directory as jobs. A
 * job runs at least once, on one process at a time.
 * @throws StartupError `MORTAR_JOBS_OPTION`; at the start `MORTAR_JOBS_FILE`, `MORTAR_JOBS_DIRECTORY` and
 * `MORTAR_JOBS_TABLE`.
 */
export function jobs(options: JobsOptions): Brick<'jobs', JobsServices, { jobs: JobAdder }> {
  const settings = readOptions(options)
  return defineBrick({
    name: 'jobs',
    peers: typeof settings.engine === 'function' ? settings.engine.peers : { from: import.meta.url },
    requires: typeof settings.engine === 'object' ? [] : ['db'],
    // Jobs use the other bricks, so they start last and stop first.
    after: ['mail', 'auth', 'redis', 'limits', 'metrics', 'tracing'],
    startupCodes: STARTUP_CODES,
    services: {
      jobs: singleton((services) => createRuntime(settings, services).jobs),
      jobQueue: singleton(({ jobs: service }) => runtimeOf(service).queue),
    },
    members: { jobs: ({ jobs: service }, ctx) => runtimeOf(service).adderFor(ctx.id) },
    checks: {
      jobs: ({ jobs: service }) => runtimeOf(service).worker.isWell,
    },
    start: async ({ jobs: service, gauges }) => {
      const runtime = runtimeOf(service)
      await open(runtime)
      addGauges(gauges, runtime.engine)
    },
    work: ({ jobs: service, environment }, { servesRequests, stopping }) => {
      if (environment === 'test' || (servesRequests && !settings.run)) return
      const { worker } = runtimeOf(service)
      worker.looks.start()
      stopping.addEventListener('abort', () => void worker.claimNothing())
    },
    async stop({ jobs: service }) {
      const { worker, engine } = runtimeOf(service)
      await worker.stop()
      await engine.close?.()
    },
    doctor: async (services) => [
      ...(await findingsOf(() => loadJobs(settings.directory), 'docs/jobs.md')),
      ...(await schemaFindings(services, settings.engine ? [] : ['mortar_jobs'], () =>
        fault('MORTAR_JOBS_TABLE', 'The schema module lacks the table of the jobs.'),
      )),
    ],
    commands: COMMANDS,
    entries: async () => (await loadJobs(settings.directory)).map((job) => entryOf(job)),
  })
}

async function open(runtime: Runtime): Promise<void> {
  const { engine, registry, services } = runtime
  followTransactions(services['db'] as DataSourceLike)
  await runtime.load()
  const isOpen = await requireInProduction(services, 'jobs', async () => {
    await engine.open()
    return true
  })
  if (!isOpen) return
  const unknown = await engine.unknown(registry.names)
  if (unknown.length > 0)
    services.logger.warn(
      { brick: 'jobs', jobs: unknown },
      'Jobs wait whose files this process does not have. Restore the files, or delete the jobs: npx mortar jobs remove --all --state waiting --name NAME',
    )
}

function entryOf({ name, file, schedule, attempts, timeout, concurrency }: LoadedJob): BrickEntry {
  const settings = {
    attempts,
    timeout: `${timeout / 1000}s`,
    ...(concurrency !== Infinity && { concurrency }),
    ...(schedule !== undefined && { every: schedule.pattern.replace('|', ' ') }),
  }
  return { kind: 'job', name, file, settings }
}
