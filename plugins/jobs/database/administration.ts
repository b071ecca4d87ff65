import type { Administration, JobCounts, JobFilter, ListedJob } from '../engine.ts'
import { LEASE, SPREAD } from '../engine.ts'
import { listOf } from './claims.ts'
import type { RunStatement, Statements } from './statements.ts'

/** True for the lease of a claimed job that has not ended. */
const RUNNING = 'worker IS NOT NULL AND run_at > {now}'

/** Not the rows of schedules, and those of jobs that another store carries. */
const LISTED = "state IN ('waiting', 'failed')"

const STATES = {
  failed: "state = 'failed'",
  running: `state = 'waiting' AND ${RUNNING}`,
  waiting: `state = 'waiting' AND NOT (${RUNNING})`,
} as const

async function list(
  run: RunStatement,
  { name, state, limit = 100 }: JobFilter = {},
): Promise<readonly ListedJob[]> {
  const { records } = await run(
    `SELECT id, name, state, attempt, run_at, added_at, error, CASE WHEN ${RUNNING} THEN 1 ELSE 0 END AS running
     FROM {jobs} WHERE ${state === undefined ? LISTED : STATES[state]} ${name === undefined ? '' : 'AND name = ?'}
     ORDER BY run_at LIMIT ${Math.floor(limit)}`,
    name === undefined ? [] : [name],
  )
  return records.map((row) => ({
    id: String(row['id']),
    name: String(row['name']),
    state: Number(row['running']) === 1 ? 'running' : (row['state'] as 'waiting' | 'failed'),
    attempt: Number(row['attempt']),
    dueAt: new Date(Number(row['run_at'])),
    addedAt: new Date(Number(row['added_at'])),
    error: (row['error'] ?? undefined) as string | undefined,
  }))
}

/** Counts in the index of the table alone: to read the rows of many jobs, or of large ones, takes seconds. */
function counts(run: RunStatement): Promise<JobCounts> {
  const count = (condition: string): string => `(SELECT COUNT(*) FROM {jobs} WHERE ${condition})`
  const counted = `SELECT ${count("state = 'waiting'")} AS waiting, ${count(STATES.failed)} AS failed,
      ${count(`${STATES.running} AND run_at <= {now} + ${LEASE + SPREAD}`)} AS running,
      {now} - (SELECT MIN(run_at) FROM {jobs} WHERE state = 'waiting') AS oldest`
  const statement = `SELECT waiting - running AS waiting, running, failed, oldest FROM (${counted}) AS counted`
  return run(statement).then(({ records: [row] }) => readCounts(row!))
}

/** Reads counts, whose oldest job is in milliseconds. */
export function readCounts(row: Readonly<Record<string, unknown>>): JobCounts {
  const read = (column: keyof JobCounts): number => Number(row[column] ?? 0)
  return {
    waiting: read('waiting'),
    running: read('running'),
    failed: read('failed'),
    oldest: Math.max(0, read('oldest') / 1000),
  }
}

/** The part of the engine for those who look after it. */
export function administration({ run, deleteRows }: Statements): Administration {
  const changes = async (...given: Parameters<RunStatement>): Promise<boolean> =>
    (await run(...given)).affected !== 0
  const texts = async (sql: string, values: readonly unknown[]): Promise<readonly string[]> =>
    (await run(sql, values)).records.map(({ text }) => String(text))
  return {
    list: (filter) => list(run, filter),
    waiting: (name) =>
      texts("SELECT data AS text FROM {jobs} WHERE state = 'waiting' AND name = ? ORDER BY added_at", [name]),
    retry: (id) =>
      changes(
        "UPDATE {jobs} SET state = 'waiting', attempt = 0, run_at = {now}, error = NULL WHERE id = ? AND state = 'failed'",
        [id],
      ),
    remove: (id) => changes(`DELETE FROM {jobs} WHERE id = ? AND ${LISTED} AND NOT (${RUNNING})`, [id]),
    counts: () => counts(run),
    unknown(names) {
      const others = names.length === 0 ? '' : `AND name NOT IN (${listOf(names)})`
      return texts(
        `SELECT DISTINCT name AS text FROM {jobs} WHERE state = 'waiting' ${others} LIMIT 10`,
        names,
      )
    },
    prune: (keep) => deleteRows('{jobs}', "state = 'failed' AND run_at < {now} - ?", [keep]),
  }
}
