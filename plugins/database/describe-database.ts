import { existsSync } from 'node:fs'
import type { DataSource } from 'typeorm'
import type { MigrationService } from 'mortar'
import { ignore } from 'mortar/kit'
import { changeStatements } from './gate/change-statements.ts'
import { openDataSource } from './drivers/data-source.ts'
import { typeorm } from './drivers/typeorm.ts'

/** Information about a database for tools, besides its migrations. */
export function describeDatabase(
  db: DataSource,
): Pick<MigrationService, 'connected' | 'tables' | 'difference' | 'missingFile'> {
  // Checks of several bricks share one connection, which the last of them closes.
  let users = 0
  let opening: Promise<boolean> | undefined
  let closing: Promise<unknown> = Promise.resolve()
  return {
    async connected(work) {
      users += 1
      opening ??= closing.then(() => openDataSource(db))
      try {
        await opening
        return await work()
      } finally {
        users -= 1
        if (users === 0) {
          const closed = opening.then((isOpen) => (isOpen ? db.destroy() : undefined))
          opening = undefined
          closing = closed.catch(ignore)
          await closing
        }
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
