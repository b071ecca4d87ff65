import type { DataSource, EntityManager } from 'typeorm'

/** Target of a query: `ctx.db`, or the manager of its transaction. */
export type QuerySource = DataSource | EntityManager

/** Returns the DataSource of a manager, or the DataSource itself. */
export function dataSourceOf(db: QuerySource): DataSource {
  return 'dataSource' in db ? db.dataSource : db
}
