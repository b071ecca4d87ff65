import type { DataSource, DataSourceOptions } from 'typeorm'
import type { Duration } from '../../src/index.ts'
import type { Entities } from './entities.ts'
import type { MigrationSource } from './load-migrations.ts'

type WithoutOurs<Options> = Options extends unknown
  ? Omit<Options, 'entities' | 'migrations' | 'migrationsRun'>
  : never

/** TypeORM's DataSource options; `entities` may be a schema module (`import * as schema`). */
export type ConnectionOptions = WithoutOurs<DataSourceOptions> & { readonly entities?: Entities }

/** What the brick does besides connecting. */
export interface DatabaseSettings {
  /** Folder of the migration files (an absolute path or a `file:` URL), or the migration classes themselves. */
  readonly migrations?: MigrationSource
  /** Runs pending migrations when the application starts. By default false. */
  readonly migrate?: boolean
  /**
   * How long one transaction on SQLite may keep other callers waiting before the log says so; seconds or `'10s'`.
   * By default 10 s. After three times as long those callers fail.
   */
  readonly transactionWarning?: Duration
}

/** Options of `database()`: a connection and, beside it, the brick's settings. */
export type DatabaseOptions = ConnectionOptions & DatabaseSettings

/** A connection: options, a DataSource, or a function that gives either when the application starts. */
export type DatabaseSource = DatabaseOptions | DataSource | (() => ConnectionOptions | DataSource)
