import { createHash } from 'node:crypto'
import type { DataSource, EntityMetadata, EntitySchema } from 'typeorm'
import { compileConditions, isPlain } from './compile-conditions.ts'
import { type Definition, nameOfParam, type Param } from './find-options.ts'
import { columnAt, QueryNotCompiled, refuseEntity, selectColumns } from './read-metadata.ts'
import { escapePath } from '../escape-path.ts'
import { createRowMapper } from './row-mapper.ts'
import type { Binder, Statement, Values } from './statement.ts'

/** The statements of one query on one DataSource. */
export type CompiledQuery = ReturnType<typeof compileQuery>

/** @throws TypeError if the entity or the definition uses a feature that only TypeORM's repository supports. */
export function compileQuery(dataSource: DataSource, entity: EntitySchema, definition: Definition) {
  const metadata = dataSource.getMetadata(entity)
  refuseEntity(dataSource, metadata)
  const { limit, offset } = definition
  if (offset !== undefined && limit === undefined)
    throw new QueryNotCompiled(metadata.name, 'it has an offset but no limit')
  const { sql: conditions, binders } = compileConditions(dataSource, metadata, definition)
  const from = ` FROM ${escapePath(dataSource, metadata.tablePath)}${conditions}`
  const columns = selectColumns(metadata, definition.select)
  const select = `SELECT ${columns.map((column) => selection(dataSource, column)).join(', ')}${from}`
  const ordered = `${select}${orderOf(dataSource, metadata, definition.order)}`
  const readers = createRowMapper(dataSource.driver, columns)
  const page = compilePage(dataSource, binders.length, definition)
  const all = [...binders, ...page.binders]
  return {
    rows: statement(`${ordered}${page.sql}`, all, readers),
    one:
      limit === undefined
        ? statement(`${ordered} LIMIT 1`, binders, readers)
        : statement(`${ordered}${page.sql}`, all, readers),
    count: statement(`SELECT COUNT(*) AS total${from}`, binders, COUNT),
    /** Returns the total number of rows if the size of the page determines it, else undefined. */
    totalAfter: (found: number, values: Values) =>
      totalAfter(
        found,
        page.binders.map((bind) => Number(bind(values))),
      ),
  }
}

const COUNT = {
  ofArray: (row: readonly unknown[]) => ({ total: row[0] }),
  ofRecord: (row: Readonly<Record<string, unknown>>) => ({ total: row['total'] }),
}

/** Derives the total from a last page that is not full. An empty page after the last one does not determine it. */
function totalAfter(found: number, [limit = Infinity, offset = 0]: readonly number[]): number | undefined {
  return found < limit && (found > 0 || offset === 0) ? offset + found : undefined
}

function statement<Row>(
  sql: string,
  binders: readonly Binder[],
  readers: Pick<Statement<Row>, 'ofArray' | 'ofRecord'>,
): Statement<Row> {
  const name = `mortar_${createHash('sha256').update(sql).digest('hex').slice(0, 32)}`
  return { sql, name, bind: (values) => binders.map((bind) => bind(values)), ...readers }
}

/** SQLite stores `jsonb` in a form of its own. */
function selection({ driver, options }: DataSource, column: EntityMetadata['columns'][number]): string {
  const name = driver.escape(column.databaseName)
  return column.type === 'jsonb' && options.type === 'better-sqlite3' ? `json(${name}) AS ${name}` : name
}

/** The order of the query, else the option `orderBy` of the entity. */
function orderOf({ driver }: DataSource, metadata: EntityMetadata, order: Definition['order'] = {}): string {
  const given = termsOf(order)
  const terms = given.length > 0 ? given : termsOf(metadata.orderBy ?? {})
  const parts = terms.map(([path, direction]) => {
    const word = String(direction).toUpperCase()
    if (word !== 'ASC' && word !== 'DESC')
      throw new QueryNotCompiled(metadata.name, `the direction of '${path}' is '${String(direction)}'`)
    return `${driver.escape(columnAt(metadata, path).databaseName)} ${word}`
  })
  return parts.length > 0 ? ` ORDER BY ${parts.join(', ')}` : ''
}

function termsOf(order: object, prefix = ''): [path: string, direction: unknown][] {
  return Object.entries(order)
    .filter(([, given]) => given !== undefined)
    .flatMap(([key, given]) =>
      isPlain(given) ? termsOf(given, `${prefix}${key}.`) : [[`${prefix}${key}`, given] as [string, unknown]],
    )
}

function compilePage(
  { driver }: DataSource,
  before: number,
  { limit, offset }: Definition,
): { sql: string; binders: Binder[] } {
  const parts = [
    ['LIMIT', 'limit', limit],
    ['OFFSET', 'offset', offset],
  ] as const
  const given = parts.filter(([, , value]) => value !== undefined)
  const sql = given.map(([word, key], index) => ` ${word} ${driver.createParameter(key, before + index)}`)
  return { sql: sql.join(''), binders: given.map(([, key, value]) => bindNumber(key, value!)) }
}

/** Checks a number of rows. Databases treat anything but a whole number differently. */
function bindNumber(key: string, given: number | Param): Binder {
  const name = nameOfParam(given)
  return (values) => {
    const value = name === undefined ? given : values[name]
    if (Number.isSafeInteger(value) && (value as number) >= 0) return value
    throw new TypeError(`${name ?? key} is ${String(value)}. A ${key} is a whole number from 0.`)
  }
}
