import { LEASE, SPREAD, type ClaimedJob } from '../engine.ts'
import type { Kind, RunStatement } from './statements.ts'

type Row = Readonly<Record<string, unknown>>

/** Claims due jobs for a worker, each by one conditional statement. */
export type Claim = (names: readonly string[], limit: number) => Promise<readonly ClaimedJob[]>

const CLAIMED = 'id, name, data, attempt, request_id, trace'
const DUE = "state = 'waiting' AND run_at <= {now}"

/** @param worker identifies this process in the table. */
export function claimOf(kind: Kind, run: RunStatement, worker: string): Claim {
  const claim = { postgres: inPostgres, sqlite: inSqlite, mysql: inMysql }[kind]
  return async (names, limit) => (names.length === 0 || limit < 1 ? [] : claim(run, worker, names, limit))
}

type ClaimBy = (...given: [RunStatement, string, readonly string[], number]) => Promise<readonly ClaimedJob[]>

/** A row that another worker is claiming is skipped. */
const inPostgres: ClaimBy = async (run, worker, names, limit) => {
  const { records } = await run(
    `WITH due AS MATERIALIZED (
       SELECT id FROM {jobs} WHERE ${DUE} AND name IN (${listOf(names)}) ORDER BY run_at LIMIT ${limit}
       FOR UPDATE SKIP LOCKED)
     UPDATE {jobs} AS job SET worker = ?, attempt = attempt + 1, run_at = {now} + ${LEASE} + floor(random() * ${SPREAD})
     FROM due WHERE job.id = due.id
     RETURNING job.id, name, data, attempt, request_id, trace`,
    [...names, worker],
  )
  return records.map((row) => claimed(row))
}

/** Looks before it writes, so that an idle process does not lock the file. */
const inSqlite: ClaimBy = async (run, worker, names, limit) => {
  const due = await candidates(run, names, limit)
  if (due.length === 0) return []
  const { records } = await run(
    `UPDATE {jobs} SET worker = ?, attempt = attempt + 1, run_at = {now} + ${LEASE} + abs(random() % ${SPREAD})
     WHERE id IN (${listOf(due)}) AND ${DUE} RETURNING ${CLAIMED}`,
    [worker, ...due.map(({ id }) => id)],
  )
  return records.map((row) => claimed(row))
}

/** MariaDB and MySQL return no changed rows, so each candidate is claimed by its own statement. */
const inMysql: ClaimBy = async (run, worker, names, limit) => {
  const found: ClaimedJob[] = []
  // Other workers want the same rows, so there are spare ones.
  for (const row of await candidates(run, names, 2 * limit)) {
    if (found.length === limit) break
    const { affected } = await run(
      `UPDATE {jobs} SET worker = ?, attempt = attempt + 1, run_at = {now} + ${LEASE} + floor(rand() * ${SPREAD})
       WHERE id = ? AND attempt = ? AND ${DUE}`,
      [worker, row['id'], row['attempt']],
    )
    if (affected === 1) found.push(claimed({ ...row, attempt: Number(row['attempt']) + 1 }))
  }
  return found
}

async function candidates(
  run: RunStatement,
  names: readonly string[],
  limit: number,
): Promise<readonly Row[]> {
  const { records } = await run(
    `SELECT ${CLAIMED} FROM {jobs} WHERE ${DUE} AND name IN (${listOf(names)}) ORDER BY run_at LIMIT ${limit}`,
    names,
  )
  return records
}

function claimed(row: Row): ClaimedJob {
  return {
    id: String(row['id']),
    name: String(row['name']),
    data: String(row['data']),
    attempt: Number(row['attempt']),
    requestId: (row['request_id'] ?? undefined) as string | undefined,
    trace: (row['trace'] ?? undefined) as string | undefined,
  }
}

/** Placeholders for a list of values. */
export function listOf(values: readonly unknown[]): string {
  return values.map(() => '?').join(', ')
}
