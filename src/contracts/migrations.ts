/** One migration and its state in the database; `missing` was run, but its file no longer exists. */
export interface MigrationState {
  readonly name: string
  readonly state: 'applied' | 'pending' | 'missing'
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
  /** Reverts the migration that was run last. @returns its name, or undefined if no migration was run. */
  revert(): Promise<string | undefined>
  /** Writes a migration from the difference between the database and the entities. @returns undefined if they match. */
  generate(name: string): Promise<{ readonly file: string } | undefined>
  /** Drops every table and runs all migrations. @returns their names. */
  fresh(done?: MigrationProgress): Promise<readonly string[]>
}
