import { flexibleStore, UNLIMITED_POINTS } from '../../../src/index.ts'
import { loadRateLimiters } from '../peers.ts'
import { TABLE, type DataSourceLike, type PostgresClient, type PostgresDriver } from './data-source.ts'
import type { DatabaseCounters } from './database-counters.ts'

interface Statement {
  readonly text: string
  readonly values?: readonly unknown[]
}

/** Counters in PostgreSQL, over one connection, which opens with its first statement. */
export function postgresCounters({ driver, options }: DataSourceLike): DatabaseCounters {
  const { query, disconnect } = connection(driver)
  const limiter = new (loadRateLimiters().RateLimiterPostgres)({
    // Statements without a name also work through PgBouncer in transaction mode.
    storeClient: { query: ({ text, values = [] }: Statement) => query(text, values) },
    storeType: 'client',
    points: UNLIMITED_POINTS,
    duration: 1,
    keyPrefix: '',
    tableName: TABLE,
    ...(options.schema !== undefined && { schemaName: options.schema }),
    tableCreated: true,
    clearExpiredByTimeout: false,
  })
  const table = options.schema === undefined ? `"${TABLE}"` : `"${options.schema}"."${TABLE}"`
  return {
    ...flexibleStore(limiter, { isReady: () => true, reset: disconnect }),
    disconnect,
    prepare: async () => void (await query(`SELECT key, points, expire FROM ${table} LIMIT 0`, [])),
    isMissingTable: (error) => (error as { readonly code?: unknown }).code === '42P01',
    async deleteExpired(now, most) {
      const expired = `SELECT key FROM ${table} WHERE expire < $1 LIMIT ${most}`
      return (await query(`DELETE FROM ${table} WHERE key IN (${expired}) AND expire < $1`, [now])).rowCount
    },
  }
}

function connection(driver: PostgresDriver) {
  let link: { readonly client: PostgresClient; readonly ready: Promise<unknown> } | undefined

  function disconnect(): void {
    link?.client.connection?.stream?.destroy()
    link = undefined
  }

  function open(): NonNullable<typeof link> {
    const { options, Client } = driver.master!
    // The pool hides the password from enumeration.
    const client = new Client!({ ...options, password: options.password, keepAlive: true })
    const drop = (): void => {
      if (link?.client === client) link = undefined
    }
    // Node ends the process after an error event without a listener.
    client.on('error', drop)
    client.on('end', drop)
    return { client, ready: client.connect() }
  }

  async function query(text: string, values: readonly unknown[]) {
    const current = (link ??= open())
    try {
      await current.ready
      return await current.client.query(text, values)
    } catch (error) {
      // Without an SQLSTATE the connection itself failed.
      if (!/^[0-9A-Z]{5}$/.test(String((error as { readonly code?: unknown }).code)) && link === current)
        disconnect()
      throw error
    }
  }

  return { query, disconnect }
}
