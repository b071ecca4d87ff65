import type { DataSource, EntityManager, ObjectLiteral, QueryRunner } from 'typeorm'
import type { Statement } from './statement.ts'
import { readDirectly } from './direct-reads.ts'
import { dataSourceOf, type QuerySource } from './query-source.ts'
import { withRunner } from '../with-runner.ts'

/**
 * Runs a statement and reads its rows: in the transaction of its manager if there is one, else on a connection of its
 * own, like TypeORM's repository.
 */
export async function readRows<Row>(
  db: QuerySource,
  statement: Statement<Row>,
  values: unknown[],
): Promise<Row[]> {
  if (runnerOf(db) === undefined) {
    const rows = readDirectly(dataSourceOf(db), statement, values)
    if (rows !== undefined) return rows
  }
  const records = await readRecords(db, statement.sql, values)
  return records.map(statement.ofRecord)
}

/** Returns the database's plan of a statement, line by line. */
export async function explainStatement(
  db: QuerySource,
  { sql }: Pick<Statement, 'sql'>,
  values: unknown[],
): Promise<string[]> {
  const { type } = dataSourceOf(db).options
  const records = await readRecords(db, `${EXPLAIN[type] ?? 'EXPLAIN'} ${sql}`, values)
  return records.map(lineOf)
}

const EXPLAIN: Partial<Record<DataSource['options']['type'], string>> = {
  'better-sqlite3': 'EXPLAIN QUERY PLAN',
  postgres: 'EXPLAIN (ANALYZE, BUFFERS)',
}

function lineOf(record: ObjectLiteral): string {
  const line: unknown = record['detail'] ?? record['QUERY PLAN']
  if (typeof line === 'string') return line
  return Object.entries(record)
    .filter(([, value]) => value !== null)
    .map(([name, value]) => `${name}: ${String(value)}`)
    .join(', ')
}

function runnerOf(db: QuerySource): QueryRunner | undefined {
  return (db as Partial<EntityManager>).queryRunner
}

async function readRecords(db: QuerySource, sql: string, values: unknown[]): Promise<ObjectLiteral[]> {
  const given = runnerOf(db)
  if (given) return recordsOf(given, sql, values)
  const dataSource = dataSourceOf(db)
  const mode = dataSource.defaultReplicationModeForReads()
  return withRunner(dataSource, (runner) => recordsOf(runner, sql, values), mode)
}

async function recordsOf(runner: QueryRunner, sql: string, values: unknown[]): Promise<ObjectLiteral[]> {
  const { records } = await runner.query(sql, values, true)
  return records
}
