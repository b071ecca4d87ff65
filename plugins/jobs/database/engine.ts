import { randomUUID } from 'node:crypto'
import { briefTransaction, errorCode, missingTable, type Transaction } from 'mortar/kit'
import { LEASE, type ClaimedJob, type JobEngine, type NewJob, type Outcome } from '../engine.ts'
import { inRounds } from '../in-rounds.ts'
import type { JobRow } from '../schema.ts'
import { fault } from '../startup-codes.ts'
import { administration } from './administration.ts'
import { claimOf } from './claims.ts'
import { addDue, plan, SCHEDULE_KEY } from './schedules.ts'
import { kindOf, statementsOf, type DataSourceLike, type RunStatement } from './statements.ts'

/** True for an attempt of this process that no other process has overtaken. */
const MINE = "id = ? AND worker = ? AND attempt = ? AND state = 'waiting'"

/**
 * Keeps jobs in the table `mortar_jobs` of a database.
 * @param fixedTime replaces the clock of the database in tests.
 * @throws StartupError `MORTAR_JOBS_OPTION` for another kind of database.
 */
export function databaseEngine(db: DataSourceLike, fixedTime?: () => number): JobEngine {
  const kind = kindOf(db)
  if (kind === undefined)
    throw fault('MORTAR_JOBS_OPTION', `The jobs cannot use a database of the type '${db.options.type}'.`, {
      remedy: 'Use SQLite (better-sqlite3), PostgreSQL, MariaDB or MySQL.',
    })
  const statements = statementsOf(db, kind, fixedTime)
  const { run } = statements
  const worker = randomUUID()
  const insert = inserting(run, kind === 'mysql')
  const changes = async (sql: string, values: readonly unknown[]): Promise<boolean> =>
    (await run(sql, values)).affected !== 0
  const done = inRounds((jobs: readonly Attempt[]) => deleteDone(run, worker, jobs))

  return {
    async open() {
      try {
        await run('SELECT id, trace FROM {jobs} LIMIT 0')
      } catch (error) {
        if (missingTable(error) === undefined) throw error
        throw fault('MORTAR_JOBS_TABLE', "The database has no table 'mortar_jobs'.")
      }
    },
    add: insert,
    claim: claimOf(kind, run, worker),
    renew: ({ id, attempt }) =>
      changes(`UPDATE {jobs} SET run_at = {now} + ${LEASE} WHERE ${MINE}`, [id, worker, attempt]),
    settle({ id, attempt }, outcome) {
      if (outcome.is === 'done' && kind !== 'mysql') return done({ id, attempt })
      const [statement, values] = settlement(outcome)
      return changes(`${statement} WHERE ${MINE}`, [...values, id, worker, attempt])
    },
    ...administration(statements),
    addScheduled: scheduling(db, run, insert),
  }
}

type Attempt = Pick<ClaimedJob, 'id' | 'attempt'>

/** Deletes jobs by one statement. @returns for each if it was deleted. MariaDB and MySQL do not tell which ones were. */
async function deleteDone(
  run: RunStatement,
  worker: string,
  jobs: readonly Attempt[],
): Promise<readonly boolean[]> {
  const these = jobs.map(() => `(${MINE})`).join(' OR ')
  const { records } = await run(
    `DELETE FROM {jobs} WHERE ${these} RETURNING id, attempt`,
    jobs.flatMap(({ id, attempt }) => [id, worker, attempt]),
  )
  // A process that was late may end two attempts of one job together.
  const isDeleted = ({ id, attempt }: Attempt): boolean =>
    records.some((row) => row['id'] === id && Number(row['attempt']) === attempt)
  return jobs.map(isDeleted)
}

/** Adds the jobs of schedules by `add`; their moments are rows of the table. */
export function scheduling(
  db: DataSourceLike,
  run: RunStatement,
  add: (job: NewJob, tx: Transaction) => Promise<boolean>,
): JobEngine['addScheduled'] {
  const insert = inserting(run, kindOf(db) === 'mysql')
  let isPlanned = false
  return async (schedules) => {
    if (!isPlanned) await plan(run, (...row) => insert(scheduleRow(...row), undefined, 'schedule'), schedules)
    isPlanned = true
    const addMoment = (name: string, moment: number, tx: Transaction) => add(momentRow(name, moment), tx)
    await addDue(run, { transact: (work) => briefTransaction(db, work), add: addMoment }, schedules)
  }
}

type Insert = (job: NewJob, tx?: Transaction, state?: JobRow['state']) => Promise<boolean>

/** A row with the same name and key is not added. Only MariaDB and MySQL refuse it with an error. */
export function inserting(run: RunStatement, isMysql: boolean): Insert {
  const ignored = isMysql ? '' : ' ON CONFLICT (name, job_key) DO NOTHING'
  const statementOf = (moment: string): string =>
    `INSERT INTO {jobs} (id, name, job_key, data, state, run_at, attempt, added_at, request_id, trace)
      VALUES (?, ?, ?, ?, ?, ${moment}, 0, {now}, ?, ?)${ignored}`
  const [soon, then] = [statementOf('{now} + ?'), statementOf('?')]
  return async ({ id, name, key, data, due, requestId, trace }, tx, state = 'waiting') => {
    const [statement, moment] = 'at' in due ? [then, due.at] : [soon, due.after]
    const values = [id, name, key ?? null, data, state, Math.floor(moment), requestId ?? null, trace ?? null]
    try {
      return (await run(statement, values, tx)).affected !== 0
    } catch (error) {
      if (errorCode(error) === 'ER_DUP_ENTRY' && key !== undefined) return false
      throw error
    }
  }
}

const NO_ORIGIN = { requestId: undefined, trace: undefined }

function scheduleRow(name: string, pattern: string, moment: number): NewJob {
  return { id: randomUUID(), name, key: SCHEDULE_KEY, data: pattern, due: { at: moment }, ...NO_ORIGIN }
}

function momentRow(name: string, moment: number): NewJob {
  const key = new Date(moment).toISOString()
  return { id: randomUUID(), name, key, data: 'null', due: { after: 0 }, ...NO_ORIGIN }
}

const RELEASED = 'UPDATE {jobs} SET worker = NULL, run_at = {now}'

/** Returns the statement without its condition. A failed job keeps no key, so that another one can be added. */
function settlement(outcome: Outcome): readonly [statement: string, values: readonly unknown[]] {
  switch (outcome.is) {
    case 'done':
      return ['DELETE FROM {jobs}', []]
    case 'repeated':
      return [`${RELEASED} + ?, error = ?`, [Math.floor(outcome.after), outcome.error]]
    case 'failed':
      return [`${RELEASED}, state = 'failed', job_key = NULL, error = ?`, [outcome.error]]
    case 'returned':
      return [`${RELEASED} + ?, attempt = attempt - 1`, [Math.floor(outcome.after ?? 0)]]
  }
}
