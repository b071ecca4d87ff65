import type { StatementResult } from '../support/statement-result.ts'

/** Settings of a connection beside the pool. */
export interface SideConnectionOptions {
  /** Milliseconds that opening the connection and one statement together may take. Without it there is no limit. */
  readonly deadline?: () => number
  /**
   * Sends an unusually slow statement on a second connection too, and keeps the faster one. For reads that are sent one
   * after another.
   */
  readonly hedge?: boolean
  /** Accepts several statements in one string on MariaDB and MySQL. Their results are the records. */
  readonly multipleStatements?: boolean
}

/** One connection beside the pool. It opens with its first statement, and again after a failure or a loss. */
export interface SideConnection {
  /**
   * Runs a statement after those before it. A statement that the server has rolled back is sent again, up to five times.
   * @throws the driver's error, or an error after the deadline; both close the connection without waiting for the server.
   */
  query(sql: string, values?: readonly unknown[]): Promise<StatementResult>
  /** Closes the connection without waiting for a server that may be silent; the next statement opens another one. */
  reset(): void
  /** Closes the connection for good. */
  close(): void
}

/**
 * The service `sideConnections` of a brick with a database. A full pool must not delay certain work of other bricks, and
 * a transaction of the application must not contain it.
 */
export interface SideConnections {
  /**
   * Makes a connection with the settings of a DataSource; on SQLite it is read-only.
   * @returns undefined for SQLite in memory, and for a driver that keeps its settings elsewhere.
   */
  open(source: object, options?: SideConnectionOptions): SideConnection | undefined
  /** Opens another SQLite file with the driver of a DataSource. @returns an object of the driver. */
  openFile(source: object, path: string): object
}
