import type { PlannedSchedule } from '../engine.ts'
import type { Transaction } from 'mortar/kit'
import { listOf } from './claims.ts'
import type { RunStatement } from './statements.ts'

/*
 * Each schedule is a row with the state `schedule`, whose `run_at` is its next moment. A process moves it on by a statement
 * that expects the moment it has read, and adds the job in the same transaction: of several processes one succeeds.
 */

type Transact = <T>(work: (tx: Transaction) => Promise<T>) => Promise<T>
type AddMoment = (name: string, moment: number, tx: Transaction) => Promise<unknown>

/** Key of the row of a schedule, beside the jobs that it adds, whose keys are their moments. */
export const SCHEDULE_KEY = 'every'
/** Milliseconds after which a moment counts as missed. */
const LATE = 60_000

/** Stores the next moment of schedules without a row, with a row of another pattern, or of a clock that was far ahead. */
export async function plan(
  run: RunStatement,
  insert: (name: string, pattern: string, moment: number) => Promise<unknown>,
  schedules: readonly PlannedSchedule[],
): Promise<void> {
  const rows = await rowsOf(run, schedules)
  for (const { name, pattern, next } of schedules) {
    const row = rows.find((each) => each.name === name)
    if (row?.pattern === pattern && !isFarAhead(row, next)) continue
    const moment = next(row?.now ?? (await currentTime(run)))
    if (moment === undefined) continue
    if (row === undefined) await insert(name, pattern, moment)
    else
      await run(`UPDATE {jobs} SET data = ?, run_at = ? WHERE id = ? AND data = ?`, [
        pattern,
        moment,
        row.id,
        row.pattern,
      ])
  }
}

/** Two moments may lie ahead of a clock that was set back a little, and none of them may come twice. */
function isFarAhead({ moment, now }: ScheduleRow, next: PlannedSchedule['next']): boolean {
  const first = next(now + LATE)
  const second = first === undefined ? undefined : next(first)
  return second !== undefined && moment > second
}

/** Adds the jobs whose moment has come. */
export async function addDue(
  run: RunStatement,
  { transact, add }: { readonly transact: Transact; readonly add: AddMoment },
  schedules: readonly PlannedSchedule[],
): Promise<void> {
  const rows = await rowsOf(run, schedules, 'AND run_at <= {now}')
  for (const row of rows) {
    // No process that has the pattern of a late row runs any more, for example after a release that was withdrawn.
    const isLeft = row.moment < row.now - LATE
    const schedule = schedules.find(
      ({ name, pattern }) => name === row.name && (isLeft || pattern === row.pattern),
    )
    if (schedule === undefined) continue
    const { moments, next } = dueMoments(row, schedule)
    await transact(async (tx) => {
      const { affected } = await run(
        `UPDATE {jobs} SET run_at = ?, data = ? WHERE id = ? AND run_at = ? AND data = ?`,
        [next, schedule.pattern, row.id, row.moment, row.pattern],
        tx,
      )
      if (affected === 1) for (const moment of moments) await add(row.name, moment, tx)
    })
  }
}

/** A moment that never comes again: the year 9999. */
const NEVER = 253_402_300_799_000

/** Returns the moments to add, and the next one. Of those that are long past at most one is added. */
export function dueMoments(
  { moment, now }: { readonly moment: number; readonly now: number },
  { next, runsMissed }: Pick<PlannedSchedule, 'next' | 'runsMissed'>,
): { readonly moments: readonly number[]; readonly next: number } {
  const moments: number[] = []
  let missed: number | undefined
  let at: number | undefined = moment
  if (moment < now - LATE) {
    missed = moment
    at = next(now - LATE)
  }
  for (; at !== undefined && at <= now; at = next(at)) moments.push(at)
  return {
    moments: moments.length === 0 && missed !== undefined && runsMissed ? [missed] : moments,
    next: at ?? NEVER,
  }
}

interface ScheduleRow {
  readonly id: string
  readonly name: string
  readonly pattern: string
  readonly moment: number
  readonly now: number
}

async function rowsOf(
  run: RunStatement,
  schedules: readonly PlannedSchedule[],
  condition = '',
): Promise<readonly ScheduleRow[]> {
  if (schedules.length === 0) return []
  const names = schedules.map(({ name }) => name)
  const { records } = await run(
    `SELECT id, name, data, run_at, {now} AS now FROM {jobs}
     WHERE state = 'schedule' AND name IN (${listOf(names)}) ${condition}`,
    names,
  )
  return records.map((row) => ({
    id: String(row['id']),
    name: String(row['name']),
    pattern: String(row['data']),
    moment: Number(row['run_at']),
    now: Number(row['now']),
  }))
}

async function currentTime(run: RunStatement): Promise<number> {
  const { records } = await run('SELECT {now} AS now')
  return Number(records[0]!['now'])
}
