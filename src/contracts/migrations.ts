/** One migration and how the database stands to it; `missing` was run, but its file is not there any more. */
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
  /** Tables that the schema module describes, where that is known without a connection. Needs none. */
  tables(): readonly string[] | undefined
  /** How many statements would take the database to the entities, once nothing is pending. Changes nothing. */
  difference(): Promise<number>
  /** The file of an embedded database that does not exist yet, so that looking does not make it. */
  missingFile(): string | undefined
  /** Runs the pending ones, oldest first. @returns their names. */
  run(done?: MigrationProgress): Promise<readonly string[]>
  /** Undoes the one that was run last. @returns its name, or undefined when there is none. */
  revert(): Promise<string | undefined>
  /** Writes the migration that takes the database to the entities. @returns undefined when there is nothing to do. */
  generate(name: string): Promise<{ readonly file: string } | undefined>
  /** Drops every table and runs all migrations. @returns their names. */
  fresh(done?: MigrationProgress): Promise<readonly string[]>
}
