import {
  COMMON_NUMBERS,
  MOST_RECORDS,
  type Condition,
  type Records,
  type TableShape,
  type Where,
} from '../accounts/records.ts'
import { createRun, unlessTaken, type DataSourceLike, type Run } from './sql.ts'

/** A part of a statement with its values. */
type Part = Parameters<Run>

/** The table of a feature on a relational database. The names of columns come from code, and values are parameters. */
export function relationalRecords(source: () => DataSourceLike, shape: TableShape): Records {
  const {
    name,
    key: [key],
    numbers = [],
  } = shape
  const run = createRun(source)
  const isNumber = (column: string) => COMMON_NUMBERS.includes(column) || numbers.includes(column)
  const cellOf = ([column, value]: [string, unknown]) =>
    // PostgreSQL returns a bigint as a string.
    [column, value === null || !isNumber(column) ? value : Number(value)]
  const change = async (...part: Part) => (await run(...part)).affected ?? 0

  return {
    insert: (row) => unlessTaken(run(...insertion(name, row))),
    async find(where, last) {
      const order = last === undefined ? '' : ` order by ${key} desc`
      const [conditions, values] = whereOf(where)
      const limit = `${order} limit ${last ?? MOST_RECORDS}`
      const { records } = await run(`select * from ${name}${conditions}${limit}`, values)
      return records.map((record) => Object.fromEntries(Object.entries(record).map(cellOf)))
    },
    update(where, set) {
      const [conditions, values] = whereOf(where)
      const changes = Object.keys(set).map((column) => `${column} = ?`)
      return change(`update ${name} set ${changes.join(', ')}${conditions}`, [
        ...Object.values(set),
        ...values,
      ])
    },
    remove(where) {
      const [conditions, values] = whereOf(where)
      return change(`delete from ${name}${conditions}`, values)
    },
  }
}

/** Returns the statement that inserts a row. Its keys are names of columns from code. */
export function insertion(table: string, row: Readonly<Record<string, unknown>>): Part {
  const values = Object.values(row)
  return [`insert into ${table} (${Object.keys(row).join(', ')}) values (${listOf(values)})`, values]
}

function whereOf(where: Where): Part {
  const parts = Object.entries(where).map(([column, value]): Part => {
    if (value === null) return [`${column} is null`, []]
    if (typeof value !== 'object') return [`${column} = ?`, [value]]
    return conditionOf(column, value)
  })
  if (parts.length === 0) return ['', []]
  return [` where ${parts.map(([text]) => text).join(' and ')}`, parts.flatMap(([, values]) => values)]
}

function conditionOf(column: string, condition: Condition): Part {
  if ('above' in condition) return [`${column} > ?`, [condition.above]]
  if ('below' in condition) return [`${column} < ?`, [condition.below]]
  if ('atMost' in condition) return [`${column} <= ?`, [condition.atMost]]
  if ('anyOf' in condition) return [`${column} in (${listOf(condition.anyOf)})`, condition.anyOf]
  // MariaDB and MySQL would take an address for another one without its accents. No index serves this condition.
  return [`cast(${column} as {bytes}) not in (${listOf(condition.noneOf)})`, condition.noneOf]
}

function listOf(values: readonly unknown[]): string {
  return values.map(() => '?').join(', ')
}
