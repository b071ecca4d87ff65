import type { DataSource, QueryRunner } from 'typeorm'
import type { PlannedMigration, PlanOptions } from 'mortar'
import type { LoadedMigration } from '../migrations/load-migrations.ts'
import { keepsTables } from '../lock-timeout.ts'
import { withRunner } from '../with-runner.ts'
import type { Facts, Rows } from './facts.ts'
import { WarningFinder } from './find-warnings.ts'
import { readOnly, recordStatements } from './record-statements.ts'

/** Rows from which a change of every row takes long enough to be noticed. */
const LARGE = 100_000

/** Lists the statements of migrations with their warnings. Changes nothing. */
export function planMigrations(
  dataSource: DataSource,
  migrations: readonly LoadedMigration[],
  { large = LARGE }: PlanOptions,
): Promise<PlannedMigration[]> {
  return withRunner(dataSource, async (reader) => {
    const finder = new WarningFinder({
      dialect: dialectOf(dataSource),
      isNew: !dataSource.isInitialized,
      large,
      ask: asker(dataSource, reader),
    })
    const planned: PlannedMigration[] = []
    for (const migration of migrations) {
      const { statements, incomplete } = await recordStatements(dataSource, reader, migration)
      const transaction = migration.instance.transaction !== false
      planned.push({
        name: migration.name,
        file: migration.origin,
        transaction,
        statements: await finder.find(statements, transaction),
        ...(incomplete !== undefined && { incomplete }),
      })
    }
    return planned
  })
}

function asker(dataSource: DataSource, reader: QueryRunner) {
  return (sql: string, parameters: readonly unknown[] = []): Promise<Rows> =>
    readOnly(dataSource, reader, () => reader.query(sql, [...parameters]) as Promise<Rows>)
}

function dialectOf(dataSource: DataSource): Facts['dialect'] {
  if (keepsTables(dataSource)) return 'mysql'
  return dataSource.options.type === 'postgres' ? 'postgres' : 'sqlite'
}
