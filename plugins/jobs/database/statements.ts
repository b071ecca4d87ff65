import { tableStatements, type DatabaseKind, type DataSourceLike } from 'mortar/kit'

export { kindOf } from 'mortar/kit'
export type { DatabaseKind as Kind, DataSourceLike, RunStatement } from 'mortar/kit'

/** Statements on the table of jobs, `{jobs}`. */
export type Statements = ReturnType<typeof tableStatements>

/**
 * Makes statements on the table of jobs.
 * @param fixedTime replaces the clock of the database in tests.
 */
export function statementsOf(db: DataSourceLike, kind: DatabaseKind, fixedTime?: () => number): Statements {
  return tableStatements(db, { kind, tables: { jobs: 'mortar_jobs' }, of: 'jobs.add', fixedTime })
}
