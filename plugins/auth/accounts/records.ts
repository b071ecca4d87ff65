/** A value of a feature's table. Times are milliseconds since the epoch. */
export type Cell = string | number | null

/** A row of a feature's table, by column. */
export type RecordRow = Readonly<Record<string, Cell>>

/** Columns that must be equal to a value, above, below or at most it, or one of several, or differ from all of several. Null never meets a list. */
export type Where = Readonly<Record<string, Cell | Condition>>

/** A condition besides equality. Lists are not empty. */
export type Condition =
  | { readonly above: number }
  | { readonly below: string }
  | { readonly atMost: number }
  | { readonly anyOf: readonly string[] }
  | { readonly noneOf: readonly string[] }

/**
 * One table of a feature, the same on SQL and on documents. Every change is one conditional statement that tells how
 * many rows it has changed, so one of many concurrent calls wins.
 */
export interface Records {
  /** @returns false if the key is taken. */
  insert(row: RecordRow): Promise<boolean>
  /** In no order, and at most 1000. With `last` only so many of them, in descending order of their keys. */
  find(where: Where, last?: number): Promise<readonly RecordRow[]>
  /** @returns the number of rows that met the condition. */
  update(where: Where, set: RecordRow): Promise<number>
  /** @returns the number of deleted rows. */
  remove(where: Where): Promise<number>
}

/** The most rows of one `find`. */
export const MOST_RECORDS = 1000

/**
 * Shape of a feature's table: the source of its entity, its indexes and its records. Each row belongs to a user in
 * `user_id`, and is over at `expires_at`.
 */
export interface TableShape {
  readonly name: `auth_${string}`
  /** Name of the key and its length; `user_id` for one row for each user. */
  readonly key: readonly [name: string, length: number]
  /** Further texts by name, with their lengths. All may be null. */
  readonly texts?: Readonly<Record<string, number>>
  /** Further numbers. All may be null. */
  readonly numbers?: readonly string[]
  /** True if a row may have no user. */
  readonly hasStrangers?: true
  /** Columns that their user may see in an export, besides the moments that every row has. None by default. */
  readonly shown?: readonly string[]
  /** True if a row says that its user is being deleted: it is deleted after all others. */
  readonly marksDeletion?: true
}

/** The table of a feature, with its shape. */
export interface FeatureTable {
  readonly shape: TableShape
  readonly records: Records
}

/** Columns of every table of a feature besides its key. */
export const COMMON_NUMBERS: readonly string[] = ['created_at', 'expires_at']

/** Returns every row that meets a condition, which does not name the key: `find` returns a part. */
export async function everyRow(
  { shape, records }: FeatureTable,
  where: Where,
): Promise<readonly RecordRow[]> {
  const [key] = shape.key
  const rows: RecordRow[] = []
  for (let part = await records.find(where, MOST_RECORDS); ;) {
    rows.push(...part)
    if (part.length < MOST_RECORDS) return rows
    part = await records.find({ ...where, [key]: { below: String(part.at(-1)![key]) } }, MOST_RECORDS)
  }
}

/** The last moment of a date: such a row is never over. */
export const NEVER = 8_640_000_000_000_000
