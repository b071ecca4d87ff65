import type { RecordRow } from '../accounts/records.ts'
import type { Sql } from './sql.ts'

/** A value between two texts of a statement: it becomes a parameter. */
export class Value {
  readonly value: unknown

  constructor(value: unknown) {
    this.value = value
  }
}

/** A piece of a statement. Texts come from code. */
export type Part = string | Value

/** Runs a statement of pieces. */
export type RunParts = (parts: readonly Part[]) => ReturnType<Sql>

/** Creates the function that runs statements whose columns vary. Texts are kept, because a template is built once. */
export function createRun(sql: Sql): RunParts {
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

/** Returns the statement that inserts a row. Its keys are names of columns from code. */
export function insertion(table: string, row: RecordRow | Readonly<Record<string, unknown>>): Part[] {
  const values = Object.values(row).map((value) => [new Value(value)])
  return [`insert into ${table} (${Object.keys(row).join(', ')}) values (`, ...listed(values, ', '), ')']
}

/** Joins pieces by a separator. */
export function listed(items: readonly (readonly Part[])[], separator: string): Part[] {
  return items.flatMap((item, index) => (index === 0 ? item : [separator, ...item]))
}
