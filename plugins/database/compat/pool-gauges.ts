/*
 * The state of the connection pools of pg (public fields) and mysql2 (private fields of version 3: `_allConnections`,
 * `_freeConnections`, `_connectionQueue`). Without them the gauges have no values, and nothing else changes.
 * Checked by test/plugins/database/pool-gauges.test.ts.
 */
import type { DataSource } from 'typeorm'
import type { Gauges } from 'mortar'

/** The state of a connection pool. */
interface PoolState {
  readonly used: number
  readonly idle: number
  readonly waiting: number
}

/** The public fields of a pool of pg. */
interface PostgresPool {
  readonly totalCount: number
  readonly idleCount: number
  readonly waitingCount: number
}

/** The private fields of a pool of mysql2. */
interface MysqlPool {
  readonly _allConnections: { readonly length: number }
  readonly _freeConnections: { readonly length: number }
  readonly _connectionQueue: { readonly length: number }
}

/** Adds gauges of the connection pool. A database without a pool, such as SQLite, has no values. */
export function addPoolGauges(gauges: Gauges, db: DataSource): void {
  const add = (name: keyof PoolState, help: string): void =>
    gauges.add(`database_pool_${name}`, { help, read: () => poolStateOf(db)?.[name] })
  add('used', 'Connections of the database pool that are in use.')
  add('idle', 'Connections of the database pool that are idle.')
  add('waiting', 'Callers that wait for a connection of the database pool.')
}

/** Returns the state of the pool; undefined without a pool, or if the driver does not show it. */
function poolStateOf({ driver }: DataSource): PoolState | undefined {
  const { master, pool = master } = driver as { readonly master?: object; readonly pool?: object }
  if (hasFields<PostgresPool>(pool, 'totalCount', 'idleCount', 'waitingCount'))
    return { used: pool.totalCount - pool.idleCount, idle: pool.idleCount, waiting: pool.waitingCount }
  if (!hasFields<MysqlPool>(pool, '_allConnections', '_freeConnections', '_connectionQueue')) return undefined
  const idle = pool._freeConnections.length
  return { used: pool._allConnections.length - idle, idle, waiting: pool._connectionQueue.length }
}

function hasFields<T extends object>(pool: object | undefined, ...fields: (keyof T & string)[]): pool is T {
  return pool !== undefined && fields.every((field) => field in pool)
}
