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

interface Link {
  readonly client: PostgresClient
  /** Settles when the client is free: pg 9 refuses a statement while another one runs. */
  free: Promise<unknown>
}

function connection(driver: PostgresDriver) {
  let link: Link | undefined

  function disconnect(): void {
    link?.client.connection?.stream?.destroy()
    link = undefined
  }

  function open(): Link {
    const { options, Client } = driver.master!
    // The pool hides the password from enumeration.
    const client = new Client!({ ...options, password: options.password, keepAlive: true })
    const drop = (): void => {
      if (link?.client === client) link = undefined
    }
    // Node ends the process after an error event without a listener.
    client.on('error', drop)
    client.on('end', drop)
    return { client, free: client.connect() }
  }

  async function query(text: string, values: readonly unknown[]) {
    const current = (link ??= open())
    try {
      return await enqueue(current, () => current.client.query(text, values))
    } catch (error) {
      if (!isAnswer(error) && link === current) disconnect()
      throw error
    }
  }

  return { query, disconnect }
}

/** Runs a statement when the statements before it have ended. A failed connection fails all of them. */
function enqueue<T>(link: Link, run: () => Promise<T>): Promise<T> {
  const result = link.free.then(run)
  link.free = result.catch((error: unknown) => {
    if (!isAnswer(error)) throw error
  })
  link.free.catch(() => undefined)
  return result
}

/** True for an error that the server has sent: it has an SQLSTATE. Otherwise the connection itself failed. */
function isAnswer(error: unknown): boolean {
  return /^[0-9A-Z]{5}$/.test(String((error as { readonly code?: unknown }).code))
}
