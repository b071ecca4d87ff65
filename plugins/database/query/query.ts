import type { DataSource, EntitySchema } from 'typeorm'
import { compileQuery, type CompiledQuery } from './compile-query.ts'
import type {
  Definition,
  Only,
  Order,
  PageParams,
  Param,
  Select,
  Selected,
  Simplify,
  Where,
  WhereParams,
} from './find-options.ts'
import { dataSourceOf, type QuerySource } from './query-source.ts'
import { explainStatement, readRows } from './run-statement.ts'
import type { Values } from './statement.ts'

/** Options of `query()`, in the words of TypeORM's `find()`; a `param(name)` may replace a value. */
export interface QueryOptions<Entity, Selection, Conditions, Limit, Offset> {
  /** Properties to read; by default all columns but those with `select: false`. */
  readonly select?: Selection & Select<Entity> & Only<Entity, Selection>
  readonly where?: Conditions & Where<Entity> & Only<Entity, Conditions>
  readonly order?: Order<Entity>
  readonly limit?: Limit
  /** Needs a `limit`. */
  readonly offset?: Offset
  /** Includes soft-deleted rows. */
  readonly withDeleted?: boolean
}

/** Arguments of a call; none if the query has no parameters. */
type Given<Params> = [keyof Params] extends [never] ? [] : [params: Params]

/** A query of one table that is compiled once for each DataSource. */
export interface Query<Row, Conditions, Page> {
  /** All rows. */
  all(db: QuerySource, ...params: Given<Simplify<Conditions & Page>>): Promise<Row[]>
  /** The first row, or null. */
  one(db: QuerySource, ...params: Given<Simplify<Conditions & Page>>): Promise<Row | null>
  /** The number of rows without `limit` and `offset`. */
  count(db: QuerySource, ...params: Given<Simplify<Conditions & Partial<Page>>>): Promise<number>
  /**
   * The rows, and their number without `limit` and `offset`. A count runs only if the page does not determine the
   * number.
   */
  page(
    db: QuerySource,
    ...params: Given<Simplify<Conditions & Page>>
  ): Promise<{ readonly rows: Row[]; readonly total: number }>
  /**
   * The database's plan for the rows, line by line: `EXPLAIN QUERY PLAN` on SQLite, `EXPLAIN ANALYZE` on PostgreSQL, which
   * runs the query, and `EXPLAIN` on MariaDB and MySQL.
   */
  explain(db: QuerySource, ...params: Given<Simplify<Conditions & Page>>): Promise<string[]>
}

/**
 * Defines a query of one table: `query(Notes, { where: { owner_id: param('owner') }, limit: param('limit') })`. The
 * statement and the function that makes rows are compiled once, at the first call on a DataSource; values are bound.
 * Rows are plain objects, equal to those of `getRepository(Notes).find()`. See docs/database.md for the limits.
 * @throws TypeError, from the first call, if the query cannot be compiled.
 */
export function query<
  Entity extends object,
  const Selection = {},
  const Conditions = {},
  const Limit extends number | Param = number,
  const Offset extends number | Param = number,
>(
  entity: EntitySchema<Entity>,
  options: QueryOptions<Entity, Selection, Conditions, Limit, Offset> = {},
): Query<Selected<Entity, Selection>, WhereParams<Entity, Conditions>, PageParams<Limit, Offset>> {
  const compiledFor = createCache(entity, options)
  const all = async (db: QuerySource, params: Values = {}) => {
    const { rows } = compiledFor(db)
    return await readRows(db, rows, rows.bind(params))
  }
  const count = async (db: QuerySource, params: Values = {}) => {
    const statement = compiledFor(db).count
    const [row] = await readRows(db, statement, statement.bind(params))
    return Number(row!.total)
  }
  const made: Query<unknown, Values, Values> = {
    all,
    count,
    async one(db, params = {}) {
      const statement = compiledFor(db).one
      const [row] = await readRows(db, statement, statement.bind(params))
      return row ?? null
    },
    async page(db, params = {}) {
      const rows = await all(db, params)
      const known = compiledFor(db).totalAfter(rows.length, params)
      return { rows, total: known ?? (await count(db, params)) }
    },
    async explain(db, params = {}) {
      const { rows } = compiledFor(db)
      return await explainStatement(db, rows, rows.bind(params))
    },
  }
  // The entity's columns are known only at run time.
  return made as never
}

function createCache(entity: EntitySchema, definition: Definition): (db: QuerySource) => CompiledQuery {
  const compiled = new WeakMap<DataSource, CompiledQuery>()
  return (db) => {
    const dataSource = dataSourceOf(db)
    let found = compiled.get(dataSource)
    if (found === undefined) compiled.set(dataSource, (found = compileQuery(dataSource, entity, definition)))
    return found
  }
}
