import type { DataSource, EntityManager } from 'typeorm'

/** Where a query runs: `ctx.db`, or the manager of the transaction that it belongs to. */
export type QuerySource = DataSource | EntityManager

/** Returns the DataSource of a manager, or the DataSource itself. */
export function dataSourceOf(db: QuerySource): DataSource {
  return 'dataSource' in db ? db.dataSource : db
}
