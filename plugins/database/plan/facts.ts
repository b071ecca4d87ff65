/** Rows of a read. */
export type Rows = readonly Readonly<Record<string, unknown>>[]

/** Facts about the plan and the database that a rule asks for. */
export interface Facts {
  readonly dialect: 'postgres' | 'mysql' | 'sqlite'
  readonly inTransaction: boolean
  /** True for a statement of `inBatches()`. */
  readonly inBatch: boolean
  /** False after `SET foreign_key_checks = 0`. */
  readonly checksForeignKeys: boolean
  /** Constraints that the same migration has added with NOT VALID. */
  readonly notValid: ReadonlySet<string>
  /** True for a column, as `table.column`, that a check in the plan requires for all rows. */
  isRequired(column: string): boolean
  /** True for a table of SQLite that the migration copies, drops and renames. */
  isRebuilt(path: string): boolean
  /** The `CREATE TABLE` of the same migration. */
  definitionOf(path: string): string | undefined
  /** Reads from the database. */
  ask(sql: string, parameters?: readonly unknown[]): Promise<Rows>
}
