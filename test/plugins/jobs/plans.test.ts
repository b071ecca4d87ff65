import { expect } from 'chai'
import type { DataSource } from 'typeorm'
import { databaseEngine } from '../../../plugins/jobs/database/engine.ts'
import type { DataSourceLike } from '../../../plugins/jobs/database/statements.ts'
import * as schema from '@mortar/jobs/schema'
import { KINDS } from '../database/databases.ts'

const ROWS = 2000
type Statement = readonly [sql: string, values: readonly unknown[]]

/** The statements that the plan of a claim begins with, and what its text has and does not have. */
const PLANS: Readonly<Record<string, { explain: string; has: RegExp; lacks: RegExp }>> = {
  SQLite: {
    explain: 'EXPLAIN QUERY PLAN',
    has: /SEARCH mortar_jobs USING INDEX \w+ \(state=\? AND run_at<\?\)/,
    lacks: /SCAN|TEMP B-TREE/,
  },
  PostgreSQL: {
    explain: 'EXPLAIN',
    has: /Index Scan using .* Index Cond: .*state.* AND \(run_at <=/,
    lacks: /Seq Scan|Sort/,
  },
  MariaDB: { explain: 'EXPLAIN', has: /"type":"(?:range|ref)".*"key":"IDX/, lacks: /filesort|"type":"ALL"/ },
}

/** A database that keeps the statements of its query runners. */
function recording(db: DataSource, seen: Statement[]): DataSourceLike {
  return Object.create(db, {
    createQueryRunner: {
      value: () => {
        const runner = db.createQueryRunner()
        return {
          release: () => runner.release(),
          query: (sql: string, values: readonly unknown[]) => {
            seen.push([sql, values])
            return runner.query(sql, [...values], true)
          },
        }
      },
    },
  }) as DataSourceLike
}

for (const [kind, prepare] of Object.entries(KINDS))
  describe(`a claim among many jobs that are due and many that are not: ${kind}`, () => {
    const place = prepare()

    it('reads a range of the index, in its order', async () => {
      const db = await place().open(schema)
      await db.synchronize()
      const now = Date.now()
      const rows = Array.from({ length: ROWS }, (_, index) => ({
        id: String(index),
        name: `job ${index % 20}`,
        data: '{}',
        state: 'waiting' as const,
        run_at: now + (index - ROWS / 2) * 10_000,
        attempt: 0,
        added_at: now,
      }))
      for (let start = 0; start < ROWS; start += 500)
        await db.getRepository(schema.MortarJobs).insert(rows.slice(start, start + 500))
      const table = db.getMetadata(schema.MortarJobs).tablePath
      await db.query(kind === 'MariaDB' ? `ANALYZE TABLE ${table}` : `ANALYZE ${table}`)
      const seen: Statement[] = []
      const claimed = await databaseEngine(recording(db, seen)).claim(['job 1', 'job 2'], 4)
      expect(claimed.map(({ id }) => id).toSorted()).to.deep.equal(['1', '2', '21', '22'])
      const { explain, has, lacks } = PLANS[kind]!
      const [sql, values] = seen[0]!
      const plan = JSON.stringify(await db.query(`${explain} ${sql}`, [...values]))
      expect(plan).to.match(has).and.not.match(lacks)
    })
  })
