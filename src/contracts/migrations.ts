/** One migration and its state in the database; `missing` was run, but its file no longer exists. */
export interface MigrationState {
  readonly name: string
  readonly state: 'applied' | 'pending' | 'missing'
}

/** A statement that would stop the application, or break code that runs. */
export interface MigrationWarning {
  /** Stable name, such as `index`; docs/database.md has the table. */
  readonly kind: string
  readonly table: string
  /** Rows of the table, counted up to those of a large one; left out if nobody asked or the database did not tell. */
  readonly rows?: number
  /** The lock, and what waits or fails. */
  readonly lock: string
  readonly instead: string
}

/** A statement of a pending migration. */
export interface PlannedStatement {
  readonly sql: string
  /** Number of its parameters, whose values a plan does not show. */
  readonly parameters: number
  readonly warnings: readonly MigrationWarning[]
}

/** A pending migration that was not run. */
export interface PlannedMigration {
  readonly name: string
  /** The file, or `a class`. */
  readonly file: string
  /** False for a migration that runs outside of a transaction. */
  readonly transaction: boolean
  readonly statements: readonly PlannedStatement[]
  /** The reason why further statements are not known. */
  readonly incomplete?: string
}

/** Options of a plan. */
export interface PlanOptions {
  /** Number of rows from which a table is large, by default 100,000. */
  readonly large?: number
}

/** Called for each migration as soon as it is done. */
export type MigrationProgress = (name: string) => void

/** The service `migrations` of a database brick, as `mortar migrate` uses it. */
export interface MigrationService {
  /** Runs work with a connection, and closes it afterwards if it was not open before. */
  connected<T>(work: () => Promise<T>): Promise<T>
  /** All migrations, oldest first. Changes nothing. */
  status(): Promise<readonly MigrationState[]>
  /** Tables that the schema module describes, if they are known without a connection. Opens no connection. */
  tables(): readonly string[] | undefined
  /**
   * Number of statements that would make the database match the entities when no migration is pending. Changes nothing.
   */
  difference(): Promise<number>
  /** The missing file of an embedded database, so that a check does not create the file. */
  missingFile(): string | undefined
  /** Runs the pending migrations, oldest first. @returns their names. */
  run(done?: MigrationProgress): Promise<readonly string[]>
  /** The statements of the pending migrations with their warnings. Changes nothing. */
  plan(options?: PlanOptions): Promise<readonly PlannedMigration[]>
  /** Reverts the migration that was run last. @returns its name, or undefined if no migration was run. */
  revert(): Promise<string | undefined>
  /** Writes a migration from the difference between the database and the entities. @returns undefined if they match. */
  generate(name: string): Promise<{ readonly file: string } | undefined>
  /** Drops every table and runs all migrations. @returns their names. */
  fresh(done?: MigrationProgress): Promise<readonly string[]>
}
