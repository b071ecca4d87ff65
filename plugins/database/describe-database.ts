import { existsSync } from 'node:fs'
import type { DataSource } from 'typeorm'
import type { MigrationService } from 'mortar'
import { changeStatements } from './gate/change-statements.ts'
import { openDataSource } from './drivers/data-source.ts'
import { typeorm } from './drivers/typeorm.ts'

/** Information about a database for tools, besides its migrations. */
export function describeDatabase(
  db: DataSource,
): Pick<MigrationService, 'connected' | 'tables' | 'difference' | 'missingFile'> {
  return {
    async connected(work) {
      const opened = await openDataSource(db)
      try {
        return await work()
      } finally {
        if (opened) await db.destroy()
      }
    },
    tables: () => tablesOf(Object.values(db.options.entities ?? {})),
    difference: async () => (await changeStatements(db)).up.length,
    missingFile: () => missingFile(db),
  }
}

/** Returns undefined for globs, whose files are read by the connection, and for classes without a table name. */
function tablesOf(entities: readonly unknown[]): readonly string[] | undefined {
  const names = entities.map(tableOf)
  return names.every((name) => name !== undefined) ? names : undefined
}

function tableOf(entity: unknown): string | undefined {
  if (typeorm.InstanceChecker.isEntitySchema(entity)) return entity.options.tableName ?? entity.options.name
  return typeorm.getMetadataArgsStorage().tables.find(({ target }) => target === entity)?.name
}

/** Returns the path of the SQLite file if it does not exist yet. */
export function missingFile({ options }: DataSource): string | undefined {
  if (options.type !== 'better-sqlite3') return undefined
  const { database } = options
  return database === ':memory:' || existsSync(database) ? undefined : database
}
