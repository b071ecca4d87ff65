import type { DataSource, DataSourceOptions } from 'typeorm'
import type { Duration } from 'mortar'
import type { ConnectionLimits } from './connections/watch-connections.ts'
import type { Entities } from './entities.ts'
import type { MigrationSource } from './migrations/load-migrations.ts'

type WithoutOurs<Options> = Options extends unknown
  ? Omit<Options, 'entities' | 'migrations' | 'migrationsRun'>
  : never

/** TypeORM's DataSource options; `entities` may be a schema module (`import * as schema`). */
export type ConnectionOptions = WithoutOurs<DataSourceOptions> & { readonly entities?: Entities }

/** Treatment of migrations that are pending when the application starts. */
export type PendingMigrations = 'stop' | 'warn' | 'ignore'

/** Settings of the brick besides the connection. */
export interface DatabaseSettings extends ConnectionLimits {
  /** Folder of the migration files (an absolute path or a `file:` URL), or the migration classes themselves. */
  readonly migrations?: MigrationSource
  /** Runs pending migrations when the application starts. By default false. */
  readonly migrate?: boolean
  /**
   * Treatment of migrations that are pending at the start: `'stop'` throws an error, `'warn'` logs a warning. By default
   * `'stop'` in production, `'warn'` in development and `'ignore'` in a test.
   */
  readonly pendingMigrations?: PendingMigrations
  /**
   * Longest wait of a migration for one lock of a table; seconds or `'5s'`, by default 5 s, 0 without a limit. Meanwhile
   * other statements wait behind it, so it gives up, and tries again after the same time, 6 times in all. On SQLite
   * `busyTimeout` is the wait.
   */
  readonly lockTimeout?: Duration
  /**
   * Longest time for which one SQLite transaction may block other callers before a log warning; seconds or `'10s'`, by
   * default 10 s. After three times as long, those callers fail.
   */
  readonly transactionWarning?: Duration
  /**
   * SQLite: longest wait of a statement while another process locks the database; seconds or `'5s'`, by default 5 s. Then
   * the caller receives a 503.
   */
  readonly busyTimeout?: Duration
  /**
   * True for an application that only reads, for example from a replica: the check `db` passes on a server that accepts
   * no writes. By default false.
   */
  readonly readOnly?: boolean
}

/** Options of `database()`: a connection and the brick's settings. */
export type DatabaseOptions = ConnectionOptions & DatabaseSettings

/** A connection: options, a DataSource, or a function that returns either when the application starts. */
export type DatabaseSource = DatabaseOptions | DataSource | (() => ConnectionOptions | DataSource)
