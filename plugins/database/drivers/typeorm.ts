import { createRequire } from 'node:module'
import type * as TypeOrm from 'typeorm'
import type * as QueryRunners from 'typeorm/driver/better-sqlite3/BetterSqlite3QueryRunner.js'
import type { PeerNeed } from 'mortar/kit'
import { withLateModules } from '../compat/typeorm.ts'

const require = createRequire(import.meta.url)

/** The package of the driver that TypeORM loads for a kind of database. */
const DRIVERS: Readonly<Record<string, string>> = {
  'better-sqlite3': 'better-sqlite3',
  postgres: 'pg',
  mysql: 'mysql2',
  mariadb: 'mysql2',
}

/**
 * Returns the driver that the brick needs for a kind of database; none if the kind is unknown.
 * @param isInstalled for tests
 */
export function databaseNeed(type?: string, isInstalled = canResolve): PeerNeed {
  const driver = type === 'better-sqlite3' && hasDriverError(isInstalled) ? undefined : DRIVERS[type ?? '']
  const packages = driver === undefined ? [] : [driver]
  return { of: "the brick 'database'", peers: { from: import.meta.url, packages } }
}

/**
 * True if sqlite-driver.ts reports a missing driver: libsql takes the place of better-sqlite3, and its error names both
 * packages.
 */
function hasDriverError(isInstalled: (name: string) => boolean): boolean {
  return isInstalled('libsql') || !isInstalled('better-sqlite3')
}

function canResolve(name: string): boolean {
  try {
    require.resolve(name)
    return true
  } catch {
    return false
  }
}

/**
 * TypeORM's main entry, for the values that an application uses: `new typeorm.EntitySchema(…)`, `typeorm.LessThan(…)`.
 * Types are imported from `typeorm` itself. An `import` of its values works as well, but makes Node search 200 of its
 * files for export names, which costs more at each start than all of Mortar.
 */
export const typeorm = withLateModules(require, () => require('typeorm') as typeof TypeOrm)

/** TypeORM's query runner for SQLite, which is not part of its main entry. */
export const { BetterSqlite3QueryRunner } =
  require('typeorm/driver/better-sqlite3/BetterSqlite3QueryRunner.js') as typeof QueryRunners
