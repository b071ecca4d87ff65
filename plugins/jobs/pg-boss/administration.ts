import type PgBoss from 'pg-boss'
import type { Administration, JobCounts, JobFilter, JobState, ListedJob } from '../engine.ts'
import { readCounts } from '../database/administration.ts'
import type { RunSql } from './boss.ts'
import type { Settling } from './settlement.ts'

/** pg-boss's states of ours. Its own queues begin with `__pgboss__`. */
const STATES: Readonly<Record<JobState, string>> = {
  waiting: "state IN ('created', 'retry')",
  running: "state = 'active'",
  failed: "state = 'failed'",
}
const OWN = "name NOT LIKE '\\_\\_pgboss\\_\\_%'"

interface Parts extends Omit<Settling, 'isKeyed'> {
  readonly boss: PgBoss
}

/** The part of the engine for those who look after it. pg-boss documents its table for statements like these. */
export function administration({ sql, table, boss, db, rows }: Parts): Administration {
  const texts = async (text: string, values: readonly unknown[]): Promise<readonly string[]> =>
    (await sql(text, values)).records.map((row) => String(row['text']))
  return {
    list: (filter) => list(sql, table, filter),
    waiting: (name) =>
      texts(
        `SELECT data->>'data' AS text FROM ${table} WHERE ${STATES.waiting} AND name = $1 ORDER BY created_on`,
        [name],
      ),
    async retry(id) {
      const { affected } = await sql(
        `UPDATE ${table} SET state = 'created', retry_count = 0, start_after = now(), started_on = NULL,
           completed_on = NULL, output = NULL WHERE id::text = $1 AND ${STATES.failed}`,
        [id],
      )
      return affected !== 0
    },
    async remove(id) {
      const statement = `DELETE FROM ${table} WHERE id::text = $1 AND (${STATES.waiting} OR ${STATES.failed})`
      return db.transaction(async (tx) => {
        if ((await sql(statement, [id], tx)).affected === 0) return false
        await rows.release([id], tx)
        return true
      })
    },
    counts: () => counts(sql, table),
    unknown: (names) =>
      texts(
        `SELECT DISTINCT name AS text FROM ${table} WHERE ${STATES.waiting} AND ${OWN} AND name <> ALL($1) LIMIT 10`,
        [names],
      ),
    async prune(keep) {
      await sql(
        `DELETE FROM ${table} WHERE ${STATES.failed} AND completed_on < now() - $1 * interval '1 ms'`,
        [keep],
      )
      await boss.maintain()
    },
  }
}

async function counts(sql: RunSql, table: string): Promise<JobCounts> {
  const sums = Object.entries(STATES).map(([state, is]) => `count(*) FILTER (WHERE ${is}) AS ${state}`)
  const { records } = await sql(
    `SELECT ${sums.join(', ')}, 1000 * extract(epoch FROM now() - min(start_after) FILTER (WHERE ${STATES.waiting})) AS oldest
     FROM ${table} WHERE ${OWN}`,
    [],
  )
  return readCounts(records[0]!)
}

async function list(
  sql: RunSql,
  table: string,
  { name, state, limit = 100 }: JobFilter = {},
): Promise<readonly ListedJob[]> {
  const states = state === undefined ? Object.values(STATES).join(' OR ') : STATES[state]
  const { records } = await sql(
    `SELECT id, name, state, retry_count, started_on, created_on, output->>'message' AS error,
       CASE WHEN ${STATES.running} THEN started_on + expire_in WHEN ${STATES.failed} THEN completed_on
         ELSE start_after END AS due_at
     FROM ${table} WHERE (${states}) AND ${OWN} AND ($1::text IS NULL OR name = $1)
     ORDER BY due_at LIMIT ${Math.floor(limit)}`,
    [name ?? null],
  )
  return records.map((row) => ({
    id: String(row['id']),
    name: String(row['name']),
    state: stateOf(String(row['state'])),
    attempt: Number(row['retry_count']) + (row['started_on'] === null ? 0 : 1),
    dueAt: row['due_at'] as Date,
    addedAt: row['created_on'] as Date,
    error: (row['error'] ?? undefined) as string | undefined,
  }))
}

function stateOf(state: string): JobState {
  return state === 'active' ? 'running' : state === 'failed' ? 'failed' : 'waiting'
}
