import { tableStatements, type DatabaseKind, type DataSourceLike, type TableStatements } from 'mortar/kit'

export { kindOf } from 'mortar/kit'
export type {
  DatabaseKind as Kind,
  DataSourceLike,
  RunStatement,
  TableStatements as Statements,
} from 'mortar/kit'

/**
 * Makes statements on the table of jobs, `{jobs}`.
 * @param fixedTime replaces the clock of the database in tests.
 */
export function statementsOf(
  db: DataSourceLike,
  kind: DatabaseKind,
  fixedTime?: () => number,
): TableStatements {
  return tableStatements(db, { kind, tables: { jobs: 'mortar_jobs' }, of: 'jobs.add', fixedTime })
}
