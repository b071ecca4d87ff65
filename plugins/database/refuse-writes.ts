import type { DataSource } from 'typeorm'
import { sqliteConnectionOf } from './compat/typeorm.ts'
import { openForReading } from './connections/watch-connections.ts'
import { openSqliteForReading, QUERY_ONLY } from './drivers/sqlite-driver.ts'
import { fault } from './startup-codes.ts'

/** DataSources whose brick was asked to refuse writes. */
const refusing = new WeakSet<DataSource>()

/** Questions that return 1 or `on` for a session that refuses writes, by the kind of database. */
const QUESTIONS: Readonly<Record<string, string>> = {
  postgres: 'SHOW default_transaction_read_only',
  mysql: "SHOW SESSION VARIABLES WHERE Variable_name IN ('tx_read_only', 'transaction_read_only')",
  mariadb: "SHOW SESSION VARIABLES WHERE Variable_name IN ('tx_read_only', 'transaction_read_only')",
  'better-sqlite3': 'PRAGMA query_only',
}

/**
 * Makes the sessions of a DataSource refuse writes, those of other bricks beside its pool too. Call it before the
 * connection is opened. A statement that switches the mode off is not refused: it is a guard against mistakes.
 */
export function refuseWrites(db: DataSource): void {
  refusing.add(db)
  // TypeORM itself writes when it connects.
  if (!db.isInitialized) db.setOptions({ synchronize: false, dropSchema: false, migrationsRun: false })
  openForReading(db)
  openSqliteForReading(db)
  sqliteConnectionOf(db.driver)?.exec(QUERY_ONLY)
}

/**
 * Asks the database, because a pooler may ignore the setting.
 * @throws StartupError `MORTAR_DATABASE_WRITES` if it accepts writes, although they should be refused.
 */
export async function checkRefusal(db: DataSource): Promise<void> {
  if (!refusing.has(db)) return
  const question = QUESTIONS[db.options.type]
  const rows = question === undefined ? [] : await db.query<Record<string, unknown>[]>(question)
  const values = rows.flatMap((row) => Object.values(row)).map((value) => String(value).toLowerCase())
  if (values.some((value) => value === 'on' || value === '1')) return
  throw fault('MORTAR_DATABASE_WRITES', 'The database cannot be made to refuse writes for this process.', {
    remedy:
      'Connect without a pooler that ignores the settings of a session, or as a user who may only read, and use --write.',
  })
}
