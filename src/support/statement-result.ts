/** Result of a statement: its rows, or the number of changed rows. */
export interface StatementResult {
  readonly records: readonly Readonly<Record<string, unknown>>[]
  readonly affected?: number
}
