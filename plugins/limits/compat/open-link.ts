/*
 * Connections beside the application's pool, from members that TypeORM's drivers and pg do not declare: see
 * `data-source.ts`. If one of them is elsewhere, the store fails, and limits are counted in memory with a warning.
 */
import type { Link } from '../database/link.ts'
import type { DataSourceLike, MysqlDriver, PostgresDriver } from './data-source.ts'

const DIFFERS = 'This version of the database driver keeps the settings of its connections elsewhere.'

/** Opens a connection with the options of the application's pool. @throws Error if pg or TypeORM keeps them elsewhere. */
export function openPostgres({ master }: PostgresDriver, onLost: () => void): Link {
  if (master?.Client === undefined) throw new Error(DIFFERS)
  const { options, Client } = master
  // The pool hides the password from enumeration.
  const client = new Client({ ...options, password: options.password, keepAlive: true })
  // Node ends the process after an error event without a listener.
  client.on('error', onLost)
  client.on('end', onLost)
  const ready = client.connect()
  // pg 9 refuses a statement while another one runs.
  let free: Promise<unknown> = ready
  return {
    run(sql, values) {
      // Statements without a name also work through PgBouncer in transaction mode.
      const result = free.then(() => ready).then(() => client.query(sql, values))
      free = result.catch(() => undefined)
      return result
    },
    destroy: () =>
      client.connection?.stream
        ? client.connection.stream.destroy()
        : void client.end?.().catch(() => undefined),
  }
}

/** Opens a connection with the options of the application's pool. @throws Error if TypeORM keeps them elsewhere. */
export function openMysql({ driver, options }: DataSourceLike, onLost: () => void): Link {
  const { createConnectionOptions, mysql } = driver as MysqlDriver
  if (createConnectionOptions === undefined || mysql === undefined) throw new Error(DIFFERS)
  const settings = createConnectionOptions.call(driver, options, options.replication?.master ?? options)
  const connection = mysql.createConnection({ ...settings, multipleStatements: true })
  // Node ends the process after an error event without a listener.
  connection.on('error', onLost)
  connection.on('end', onLost)
  return {
    run: (sql, values) =>
      new Promise((resolve, reject) => {
        connection.query(sql, values, (error, result) => (error ? reject(error) : resolve(result)))
      }),
    destroy: () => connection.destroy(),
  }
}
