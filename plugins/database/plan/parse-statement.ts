import { withoutComments } from '../sql-text.ts'

const PART = '(?:"[^"]+"|`[^`]+`|[\\w$]+)'

/** A name of a table or column in a pattern, quoted or not, with its schema. */
export const NAME = `(?:${PART}\\.)?${PART}`

/** A change of one table. */
export interface Operation {
  /** The table as the statement names it. */
  readonly path: string
  /** The action of `ALTER TABLE`, else the whole statement; without texts in quotes. */
  readonly text: string
  /** The whole statement. */
  readonly statement: string
}

/** Makes a pattern that ignores case; `NAME` and `COLUMN` stand for names. */
export function pattern(source: string): RegExp {
  return new RegExp(source.replaceAll('NAME', NAME), 'i')
}

/** Each has the table as its first group. */
const HEADS = [
  'ALTER TABLE (?:IF EXISTS )?(?:ONLY )?(NAME) ',
  'CREATE (?:\\w+ )?INDEX .*?\\bON (?:ONLY )?(NAME)',
  'DROP INDEX CONCURRENTLY (?:IF EXISTS )?(NAME)',
  'DROP TABLE (?:IF EXISTS )?(NAME)',
  'CREATE (?:\\w+ )?TABLE (?:IF NOT EXISTS )?(NAME)',
  'RENAME TABLE (?:IF EXISTS )?(NAME)',
  'INSERT INTO NAME ?\\([^)]*\\) SELECT .* FROM (NAME)$',
  'UPDATE (?:ONLY )?(NAME)',
  'DELETE FROM (?:ONLY )?(NAME)',
  '(?:VACUUM FULL|CLUSTER|REINDEX(?: \\([^)]*\\))? TABLE) (NAME)',
].map((head) => pattern(`^${head}`))

/** Splits SQL into its changes of tables. What it does not know has none. */
export function operationsOf(sql: string): Operation[] {
  const masked = sql.replaceAll(/'(?:[^'\\]|''|\\.)*'/g, "''")
  return masked.split(';').flatMap((part) => {
    const statement = withoutComments(part).replaceAll(/\s+/g, ' ').trim()
    const head = HEADS.map((each) => each.exec(statement)).find((found) => found !== null)
    const path = head?.[1]
    if (!head || path === undefined) return []
    if (!/^ALTER/i.test(statement)) return [{ path, text: statement, statement }]
    return splitList(statement.slice(head[0].length)).map((text) => ({ path, text, statement }))
  })
}

/** The last part of a name, without quotes. */
export function plainName(path: string): string {
  return new RegExp(`${PART}$`).exec(path)![0].replaceAll(/["`]/g, '')
}

/** Splits at the commas outside of parentheses. */
export function splitList(text: string): string[] {
  let depth = 0
  let begin = 0
  const items: string[] = []
  for (const { 0: sign, index } of `${text},`.matchAll(/[(),]/g)) {
    if (sign === '(') depth++
    else if (sign === ')') depth--
    else if (depth === 0) {
      items.push(text.slice(begin, index).trim())
      begin = index + 1
    }
  }
  return items.filter(Boolean)
}
