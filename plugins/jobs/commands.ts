import type { BrickCommand, BrickCommandInput, BrickCommandResult, Cradle } from 'mortar'
import { inColumns, printable } from 'mortar/kit'
import type { JobEngine, JobFilter, JobState, ListedJob } from './engine.ts'
import { runtimeOf } from './runtime.ts'
import { fault } from './startup-codes.ts'

const STATES: readonly JobState[] = ['waiting', 'running', 'failed']
const DEFAULT_LIMIT = 100
const LONGEST_LIST = 1000
/** Jobs that `--all` changes between two looks. */
const PAGE = 500

/** The commands `mortar jobs …`. */
export const COMMANDS: Readonly<Record<string, BrickCommand>> = {
  list: {
    summary: 'count the jobs, and list those that wait, run or have failed',
    usage: '[--state STATE] [--name NAME] [--limit N]',
    options: {
      state: { type: 'string', help: STATES.join(', ') },
      name: { type: 'string', help: 'the path of a job file without its extension' },
      limit: { type: 'string', help: `jobs of the list; ${DEFAULT_LIMIT} by default` },
    },
    needs: ['database'],
    async run(input, services) {
      refuseNames(input)
      const engine = await openEngine(services)
      const filter = { ...filterOf(input, STATES), limit: readLimit(input.values['limit']) }
      const [counts, jobs] = await Promise.all([engine.counts(), engine.list(filter)])
      const { waiting, running, failed } = counts
      const summary = `${waiting} waiting, ${running} running, ${failed} failed`
      return {
        json: { counts, jobs },
        text: jobs.length === 0 ? summary : `${inColumns(jobs.map(rowOf))}\n${summary}`,
      }
    },
  },
  retry: changing({
    summary: 'let failed jobs wait again, with all their attempts',
    done: 'retried',
    states: ['failed'],
    change: (engine, id) => engine.retry(id),
  }),
  remove: changing({
    summary: 'delete jobs that have failed or wait',
    done: 'removed',
    states: ['failed', 'waiting'],
    change: (engine, id) => engine.remove(id),
  }),
}

interface Change {
  readonly summary: string
  readonly done: string
  /** States of the jobs that can be changed. The first one is that of `--all`. */
  readonly states: readonly [JobState, ...JobState[]]
  readonly change: (engine: JobEngine, id: string) => Promise<boolean>
}

/** Makes a command that changes the jobs with the given ids, or all of a state. */
function changing({ summary, done, states, change }: Change): BrickCommand {
  const [usual] = states
  return {
    summary,
    usage: `ID… | --all${states.length > 1 ? ' [--state STATE]' : ''} [--name NAME]`,
    options: {
      all: { type: 'boolean', help: `every ${usual} job` },
      name: { type: 'string', help: 'with --all: the jobs of this name' },
      ...(states.length > 1 && { state: { type: 'string', help: `with --all: ${states.join(' or ')}` } }),
    },
    needs: ['database'],
    async run(input, services) {
      const { all } = input.values
      if (input.positionals.length > 0 === (all === true))
        throw new RangeError('Name the ids of jobs, or give --all.')
      if (all !== true && ('name' in input.values || 'state' in input.values))
        throw new RangeError('--name and --state need --all.')
      const filter = { state: usual, ...filterOf(input, states) }
      const engine = await openEngine(services)
      return all === true
        ? result(done, await changeAll(engine, filter, change))
        : result(done, await changeEach(engine, input.positionals, { done, change }))
    },
  }
}

function result(done: string, ids: readonly string[]): BrickCommandResult {
  return { json: { [done]: ids }, text: `${ids.length} ${ids.length === 1 ? 'job' : 'jobs'} ${done}.` }
}

/** @throws StartupError `MORTAR_JOBS_ID` after the others have been changed, if some could not be. */
async function changeEach(
  engine: JobEngine,
  ids: readonly string[],
  { done, change }: Pick<Change, 'done' | 'change'>,
): Promise<readonly string[]> {
  const missing: string[] = []
  for (const id of new Set(ids)) if (!(await change(engine, id))) missing.push(printable(id))
  if (missing.length === 0) return [...new Set(ids)]
  const others = new Set(ids).size - missing.length
  throw fault('MORTAR_JOBS_ID', `Not ${done}: ${missing.join(', ')}. Other jobs ${done}: ${others}.`)
}

/** A job that fails again meanwhile is not changed a second time. */
async function changeAll(
  engine: JobEngine,
  filter: JobFilter,
  change: Change['change'],
): Promise<readonly string[]> {
  const seen = new Set<string>()
  const changed: string[] = []
  for (;;) {
    const found = (await engine.list({ ...filter, limit: PAGE })).filter(({ id }) => !seen.has(id))
    if (found.length === 0) return changed
    for (const { id } of found) {
      seen.add(id)
      if (await change(engine, id)) changed.push(id)
    }
  }
}

/** @throws StartupError `MORTAR_JOBS_TABLE` */
async function openEngine(services: Cradle): Promise<JobEngine> {
  const { engine } = runtimeOf((services as { readonly jobs?: unknown }).jobs)
  await engine.open()
  return engine
}

function refuseNames({ positionals }: BrickCommandInput): void {
  if (positionals.length > 0) throw new RangeError('This command accepts no names. Use --name NAME.')
}

function filterOf({ values }: BrickCommandInput, states: readonly JobState[]): JobFilter {
  const { name, state } = values
  if (state !== undefined && !states.includes(state as JobState))
    throw new RangeError(`--state is '${String(state)}'. Write ${states.join(' or ')}.`)
  return {
    ...(name !== undefined && { name: String(name) }),
    ...(state !== undefined && { state: state as JobState }),
  }
}

function readLimit(given: unknown): number {
  const limit = Number(given ?? DEFAULT_LIMIT)
  if (Number.isInteger(limit) && limit >= 1 && limit <= LONGEST_LIST) return limit
  throw new RangeError(`--limit is '${String(given)}'. Write a whole number from 1 to ${LONGEST_LIST}.`)
}

function rowOf({ id, name, state, attempt, dueAt, error }: ListedJob): string[] {
  const moment = `${state === 'waiting' ? 'due' : state === 'running' ? 'until' : 'since'} ${dueAt.toISOString()}`
  return [id, state, printable(name), `attempt ${attempt}`, moment, printable(error ?? '')]
}
