import type { DataSource } from 'typeorm'
import { methodOf } from '../compat/driver-module.ts'
import type { MigrationStatements } from '../migrations/migration-file.ts'

/** Computes the statements that make a connected database match its entities, and those that revert them. Runs none. */
export async function changeStatements(dataSource: DataSource): Promise<MigrationStatements> {
  if (await isMariaDbAsMysql(dataSource)) readDefaultsOfMariaDb(dataSource)
  const { upQueries: up, downQueries } = await dataSource.driver.createSchemaBuilder().log()
  return { up, down: downQueries.toReversed() }
}

const corrected = new WeakSet<DataSource['driver']>()

async function isMariaDbAsMysql(dataSource: DataSource): Promise<boolean> {
  if (dataSource.options.type !== 'mysql' || corrected.has(dataSource.driver)) return false
  const [row] = await dataSource.query<{ version: string }[]>('select version() as version')
  return row?.version.includes('MariaDB') === true
}

/**
 * For `type: 'mysql'` TypeORM puts quotes around the default of a column that it reads. MariaDB returns it as SQL, so
 * that `NULL` became the text `'NULL'`: each nullable column seemed to have changed, and a statement that restored it
 * failed. Test: test/plugins/database/migration-round-trip.test.ts
 */
function readDefaultsOfMariaDb({ driver }: DataSource): void {
  corrected.add(driver)
  const findChanged = methodOf(driver, 'findChangedColumns')
  // Two entities of one table share its columns.
  const read = new WeakSet<object>()
  driver.findChangedColumns = (columns, metadata) => {
    for (const column of columns) {
      if (!read.has(column)) column.default = withoutAddedQuotes(column.default)
      read.add(column)
    }
    return findChanged(columns, metadata)
  }
}

function withoutAddedQuotes(value: unknown): unknown {
  if (typeof value !== 'string' || !/^'.*'$/s.test(value)) return value
  const sql = value.slice(1, -1)
  return sql === 'NULL' ? undefined : sql
}
