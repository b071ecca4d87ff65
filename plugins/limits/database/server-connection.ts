import type { SideConnection, SideConnectionOptions, SideConnections } from 'mortar/kit'
import type { DataSourceLike } from './database-counters.ts'

/**
 * The connection of the counters to a server. It is opened with the first statement, because the service `limiter` is made
 * before the DataSource is connected. Where a driver allows no connection, each statement fails, and limits count in memory.
 */
export function serverConnection(
  source: DataSourceLike,
  beside: SideConnections,
  options?: SideConnectionOptions,
): SideConnection {
  let side: SideConnection | undefined
  return {
    async query(sql, values) {
      side ??= beside.open(source, options)
      if (side === undefined) throw new Error(DIFFERS)
      return side.query(sql, values)
    },
    reset: () => side?.reset(),
    close: () => side?.close(),
  }
}

const DIFFERS = 'This version of the database driver keeps the settings of its connections elsewhere.'
