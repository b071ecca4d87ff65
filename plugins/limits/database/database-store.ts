import type { Cradle } from 'mortar'
import { missingTable, type SideConnections } from 'mortar/kit'
import { fault } from '../startup-codes.ts'
import type { SharedStore } from '../shared-store.ts'
import { cleanRegularly } from './clean-regularly.ts'
import { TABLE, type DataSourceLike, type MakeCounters } from './database-counters.ts'
import { mysqlCounters } from './mysql-counters.ts'
import { postgresCounters } from './postgres-counters.ts'
import { sqliteCounters } from './sqlite-counters.ts'

const KINDS: Readonly<Record<string, MakeCounters>> = {
  postgres: postgresCounters,
  mysql: mysqlCounters,
  mariadb: mysqlCounters,
  'better-sqlite3': sqliteCounters,
}

/**
 * Creates counters in the application's database: the service `db`, over a connection beside its pool.
 * @returns undefined for SQLite in memory, which no other process can read.
 * @throws StartupError `MORTAR_LIMITS_OPTION` for another kind of database.
 */
export function createDatabaseStore({ db, sideConnections, logger }: Cradle): SharedStore | undefined {
  const source = db as DataSourceLike
  const { type } = source.options
  const make = Object.hasOwn(KINDS, type) ? KINDS[type] : undefined
  if (make === undefined)
    throw fault('MORTAR_LIMITS_OPTION', `limits() cannot count in a database of the type '${type}'.`, {
      remedy: "Write store: 'redis' or 'memory'.",
    })
  const counters = make(source, sideConnections as SideConnections)
  if (counters === undefined) return undefined
  let stopCleaning: (() => void) | undefined
  return {
    ...counters,
    async open() {
      try {
        await counters.prepare()
      } catch (error) {
        if (missingTable(error) !== undefined)
          throw fault('MORTAR_LIMITS_TABLE', `The database has no table '${TABLE}'.`)
        logger.warn({ brick: 'limits' }, 'The limits cannot open their connection to the database')
      }
      stopCleaning = cleanRegularly(counters)
    },
    close() {
      stopCleaning?.()
      counters.disconnect()
    },
  }
}
