import {
  COMMON_NUMBERS,
  MOST_RECORDS,
  type Condition,
  type Records,
  type TableShape,
  type Where,
} from '../accounts/records.ts'
import { createRun, insertion, listed, Value, type Part } from './dynamic-sql.ts'
import { createSql, unlessTaken, type DataSourceLike } from './sql.ts'

/** The table of a feature on a relational database. The names of columns come from code, and values are parameters. */
export function relationalRecords(source: () => DataSourceLike, shape: TableShape): Records {
  const {
    name,
    key: [key],
    numbers = [],
  } = shape
  const run = createRun(createSql(source))
  const isNumber = (column: string) => COMMON_NUMBERS.includes(column) || numbers.includes(column)
  const cellOf = ([column, value]: [string, unknown]) =>
    // PostgreSQL returns a bigint as a string.
    [column, value === null || !isNumber(column) ? value : Number(value)]
  const change = async (parts: readonly Part[]) => (await run(parts)).affected ?? 0

  return {
    insert: (row) => unlessTaken(run(insertion(name, row))),
    async find(where, last) {
      const order = last === undefined ? '' : ` order by ${key} desc`
      const limit = `${order} limit ${last ?? MOST_RECORDS}`
      const { records } = await run([`select * from ${name}`, ...whereOf(where), limit])
      return records.map((record) => Object.fromEntries(Object.entries(record).map(cellOf)))
    },
    update(where, set) {
      const changes = Object.entries(set).map(([column, value]) => [`${column} = `, new Value(value)])
      return change([`update ${name} set `, ...listed(changes, ', '), ...whereOf(where)])
    },
    remove: (where) => change([`delete from ${name}`, ...whereOf(where)]),
  }
}

function whereOf(where: Where): Part[] {
  const conditions = Object.entries(where).map(([column, value]): Part[] => {
    if (value === null) return [`${column} is null`]
    if (typeof value !== 'object') return [`${column} = `, new Value(value)]
    return [`${column} `, ...conditionOf(value)]
  })
  return conditions.length === 0 ? [] : [' where ', ...listed(conditions, ' and ')]
}

function conditionOf(condition: Condition): Part[] {
  if ('above' in condition) return ['> ', new Value(condition.above)]
  if ('below' in condition) return ['< ', new Value(condition.below)]
  if ('atMost' in condition) return ['<= ', new Value(condition.atMost)]
  const isIn = 'anyOf' in condition
  const values = (isIn ? condition.anyOf : condition.noneOf).map((value) => [new Value(value)])
  return [isIn ? 'in (' : 'not in (', ...listed(values, ', '), ')']
}
