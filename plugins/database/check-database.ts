import { statfs } from 'node:fs/promises'
import { dirname } from 'node:path'
import type { DataSource } from 'typeorm'
import { retireConnections } from './connections/watch-connections.ts'

/** Statements that ask a server if it accepts no writes. A newer MariaDB has names in place of 0 and 1. */
const MYSQL_ROLE = "SELECT @@global.read_only NOT IN ('0', 'OFF') OR @@global.innodb_read_only AS refuses"
const ROLES: Readonly<Record<string, string>> = {
  postgres: "SELECT CASE current_setting('transaction_read_only') WHEN 'on' THEN 1 ELSE 0 END AS refuses",
  mysql: MYSQL_ROLE,
  mariadb: MYSQL_ROLE,
}

/** Bytes that the disk of a SQLite file needs for further writes. */
const LEAST_FREE = 1_048_576

/**
 * The health check of the database: it answers, and it accepts writes unless `readOnly`.
 * @throws Error for a server that accepts no writes, whose connections the pool then replaces, and for a SQLite file on a
 * full disk.
 */
export async function checkDatabase(db: DataSource, { readOnly = false }): Promise<void> {
  const role = readOnly ? undefined : ROLES[db.options.type]
  const [row] = (await db.query(role ?? 'SELECT 1')) as { readonly refuses?: unknown }[]
  if (Number(row?.refuses ?? 0) !== 0) {
    retireConnections(db)
    throw new Error('The database server accepts no writes.')
  }
  if (!readOnly && db.options.type === 'better-sqlite3') await checkDisk(db.options.database)
}

/** @throws Error if the disk of this file has less than 1 MiB for this user. */
async function checkDisk(file: string): Promise<void> {
  if (file === ':memory:' || file === '') return
  const { bavail, bsize } = await statfs(dirname(file))
  if (bavail * bsize < LEAST_FREE) throw new Error('The disk of the SQLite file is full.')
}
