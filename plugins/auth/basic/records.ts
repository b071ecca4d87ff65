import {
  COMMON_NUMBERS,
  MOST_RECORDS,
  type Condition,
  type Records,
  type TableShape,
  type Where,
} from '../accounts/records.ts'
import { createSql, unlessTaken, type DataSourceLike, type Sql } from './sql.ts'

/** A value between two texts of a statement: it becomes a parameter. */
class Value {
  readonly value: unknown

  constructor(value: unknown) {
    this.value = value
  }
}

type Part = string | Value

/** The table of a feature on a relational database. The names of columns come from code, and values are parameters. */
export function relationalRecords(source: () => DataSourceLike, shape: TableShape): Records {
  const { name, numbers = [] } = shape
  const run = createRun(source)
  const isNumber = (column: string) => COMMON_NUMBERS.includes(column) || numbers.includes(column)
  const cellOf = ([column, value]: [string, unknown]) =>
    // PostgreSQL returns a bigint as a string.
    [column, value === null || !isNumber(column) ? value : Number(value)]
  const change = async (parts: readonly Part[]) => (await run(parts)).affected ?? 0

  return {
    insert: (row) =>
      unlessTaken(
        run([
          `insert into ${name} (${Object.keys(row).join(', ')}) values (`,
          ...listed(
            Object.values(row).map((value) => [new Value(value)]),
            ', ',
          ),
          ')',
        ]),
      ),
    async find(where) {
      const { records } = await run([`select * from ${name}`, ...whereOf(where), ` limit ${MOST_RECORDS}`])
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
  if ('atMost' in condition) return ['<= ', new Value(condition.atMost)]
  const isIn = 'anyOf' in condition
  const values = (isIn ? condition.anyOf : condition.noneOf).map((value) => [new Value(value)])
  return [isIn ? 'in (' : 'not in (', ...listed(values, ', '), ')']
}

function listed(items: readonly (readonly Part[])[], separator: string): Part[] {
  return items.flatMap((item, index) => (index === 0 ? item : [separator, ...item]))
}

/** Runs a statement of parts. Its texts are kept, because the statement of a template is built once. */
function createRun(source: () => DataSourceLike): (parts: readonly Part[]) => ReturnType<Sql> {
  const sql = createSql(source)
  const templates = new Map<string, TemplateStringsArray>()
  return (parts) => {
    const texts = ['']
    const values: unknown[] = []
    for (const part of parts)
      if (part instanceof Value) {
        values.push(part.value)
        texts.push('')
      } else texts[texts.length - 1] += part
    const key = texts.join('\0')
    const template = templates.get(key) ?? Object.assign([...texts], { raw: texts })
    templates.set(key, template)
    return sql(template, ...values)
  }
}
