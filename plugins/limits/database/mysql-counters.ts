import { flexibleStore, UNLIMITED_POINTS, type FlexibleLimiter } from '../../../src/index.ts'
import { loadRateLimiters } from '../peers.ts'
import {
  TABLE,
  type DataSourceLike,
  type MysqlConnection,
  type MysqlDriver,
  type MysqlPool,
} from './data-source.ts'
import type { DatabaseCounters } from './database-counters.ts'

/** Each count is a transaction of four statements, so several connections count at the same time. */
const CONNECTIONS = 4
/** Tries of a transaction that a deadlock has rolled back. */
const TRIES = 5

/** Counters in MariaDB or MySQL, over a pool of their own, which opens with the first count. */
export function mysqlCounters(source: DataSourceLike): DatabaseCounters {
  const { getConnection, query, disconnect } = pool(source)
  const limiter = new (loadRateLimiters().RateLimiterMySQL)({
    storeClient: { getConnection },
    storeType: 'pool',
    points: UNLIMITED_POINTS,
    duration: 1,
    keyPrefix: '',
    dbName: (source.driver as MysqlDriver).database!,
    tableName: TABLE,
    tableCreated: true,
    clearExpiredByTimeout: false,
  })
  return {
    ...flexibleStore(withRetries(limiter), { isReady: () => true, reset: disconnect }),
    disconnect,
    prepare: async () => void (await query(`SELECT \`key\`, points, expire FROM ${TABLE} LIMIT 0`, [])),
    isMissingTable: (error) => codeOf(error) === 'ER_NO_SUCH_TABLE',
    async deleteExpired(now, most) {
      const result = await query(`DELETE FROM ${TABLE} WHERE expire < ? LIMIT ${most}`, [now])
      return (result as { readonly affectedRows: number }).affectedRows
    },
  }
}

function pool({ driver, options }: DataSourceLike) {
  const parts = driver as MysqlDriver
  let current: MysqlPool | undefined
  const open = new Set<MysqlConnection>()

  function create(): MysqlPool {
    const settings = parts.createConnectionOptions!(options, options.replication?.master ?? options)
    const made = parts.mysql!.createPool({ ...settings, connectionLimit: CONNECTIONS })
    made.on('connection', (connection) => {
      open.add(connection)
      // Node ends the process after an error event without a listener.
      connection.on('error', () => open.delete(connection))
    })
    return made
  }

  /** Destroys the connections without waiting for a server that may be silent. The next count opens others. */
  function disconnect(): void {
    current = undefined
    for (const connection of open) connection.destroy()
    open.clear()
  }

  function getConnection(done: (error: Error | null, connection: MysqlConnection) => void): void {
    current ??= create()
    current.getConnection(done)
  }

  function query(sql: string, values: readonly unknown[]): Promise<unknown> {
    return new Promise((resolve, reject) => {
      getConnection((failure, connection) => {
        if (failure) return reject(failure)
        connection.query(sql, values, (error, result) => {
          connection.release()
          if (error) reject(error)
          else resolve(result)
        })
      })
    })
  }

  return { getConnection, query, disconnect }
}

/** A deadlock victim is rolled back, so the same count can be sent again. */
function withRetries(limiter: FlexibleLimiter): FlexibleLimiter {
  return {
    consume: (...call) => retry(() => limiter.consume(...call)),
    reward: (...call) => retry(() => limiter.reward(...call)),
    delete: (...call) => retry(() => limiter.delete(...call)),
  }
}

async function retry<T>(act: () => Promise<T>): Promise<T> {
  for (let attempt = 1; ; attempt++)
    try {
      return await act()
    } catch (error) {
      if (codeOf(error) !== 'ER_LOCK_DEADLOCK' || attempt === TRIES) throw error
    }
}

function codeOf(error: unknown): unknown {
  return (error as { readonly code?: unknown } | null)?.code
}
