import type { DataSource } from 'typeorm'
import { retireConnections } from './connections/watch-connections.ts'

/** Statements that ask a server if it accepts no writes. A newer MariaDB has names in place of 0 and 1. */
const MYSQL_ROLE = "SELECT @@global.read_only NOT IN ('0', 'OFF') OR @@global.innodb_read_only AS refuses"
const ROLES: Readonly<Record<string, string>> = {
  postgres: "SELECT CASE current_setting('transaction_read_only') WHEN 'on' THEN 1 ELSE 0 END AS refuses",
  mysql: MYSQL_ROLE,
  mariadb: MYSQL_ROLE,
}

/**
 * The health check of the database: it answers, and it accepts writes unless `readOnly`.
 * @throws Error for a server that accepts no writes; then the pool replaces its connections.
 */
export async function checkDatabase(db: DataSource, { readOnly = false }): Promise<void> {
  const role = readOnly ? undefined : ROLES[db.options.type]
  const [row] = (await db.query(role ?? 'SELECT 1')) as { readonly refuses?: unknown }[]
  if (Number(row?.refuses ?? 0) === 0) return
  retireConnections(db)
  throw new Error('The database server accepts no writes.')
}
