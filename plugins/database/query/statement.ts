import type { ReadRow } from './row-mapper.ts'

/** Parameters of one call, by name. */
export type Values = Readonly<Record<string, unknown>>

/** Gives the value of one placeholder of a statement. */
export type Binder = (values: Values) => unknown

/** One statement and the reading of its rows. */
export interface Statement<Row = object> {
  readonly sql: string
  /** The name of the prepared statement on PostgreSQL: the same for the same text. */
  readonly name: string
  /** Gives the values of the placeholders in their order. @throws TypeError for a parameter that is missing. */
  bind(values: Values): unknown[]
  /** Reads a row that is an array of its values, in the order of the statement. */
  readonly ofArray: ReadRow<readonly unknown[], Row>
  /** Reads a row that is an object, by the names of its columns. */
  readonly ofRecord: ReadRow<Readonly<Record<string, unknown>>, Row>
}
