/*
 * The state of the connection pools of pg (public fields) and mysql2 (private fields of version 3: `_allConnections`,
 * `_freeConnections`, `_connectionQueue`). Without them the gauges have no values, and nothing else changes.
 * Checked by test/plugins/database/pool-gauges.test.ts.
 */
import type { DataSource } from 'typeorm'
import type { Gauges } from '../../../src/index.ts'

/** The state of a connection pool. */
interface PoolState {
  readonly used: number
  readonly idle: number
  readonly waiting: number
}

/** Fields of the pools of pg and mysql2 that are read. */
interface Pool {
  readonly totalCount?: number
  readonly idleCount?: number
  readonly waitingCount?: number
  readonly _allConnections?: { readonly length: number }
  readonly _freeConnections?: { readonly length: number }
  readonly _connectionQueue?: { readonly length: number }
}

/** Adds gauges of the connection pool. A database without a pool, such as SQLite, has no values. */
export function addPoolGauges(gauges: Gauges, db: DataSource): void {
  const add = (name: keyof PoolState, help: string): void =>
    gauges.add(`database_pool_${name}`, { help, read: () => poolStateOf(db)?.[name] })
  add('used', 'Connections of the database pool that are in use.')
  add('idle', 'Connections of the database pool that are idle.')
  add('waiting', 'Callers that wait for a connection of the database pool.')
}

/** Returns the state of the pool; undefined without a pool, or if the driver shows none. */
export function poolStateOf({ driver }: DataSource): PoolState | undefined {
  const { master, pool = master } = driver as { readonly master?: Pool; readonly pool?: Pool }
  if (pool?.totalCount !== undefined) {
    const { totalCount, idleCount = 0, waitingCount = 0 } = pool
    return { used: totalCount - idleCount, idle: idleCount, waiting: waitingCount }
  }
  const all = pool?._allConnections?.length
  if (all === undefined) return undefined
  const idle = pool?._freeConnections?.length ?? 0
  return { used: all - idle, idle, waiting: pool?._connectionQueue?.length ?? 0 }
}
