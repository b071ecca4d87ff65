import type { Facts } from './facts.ts'
import { type Operation, pattern, plainName, splitList } from './parse-statement.ts'

/** PostgreSQL: true if the new type of a column accepts all stored values as they are, so that nothing is rewritten. */
export async function isWidened({ path, text }: Operation, { ask }: Facts): Promise<boolean> {
  const [, column, type] = pattern('^ALTER (?:COLUMN )?(NAME) (?:SET DATA )?TYPE (.+)$').exec(text) ?? []
  if (column === undefined || type === undefined) return false
  const [row] = await ask(
    'SELECT format_type(atttypid, atttypmod) AS type FROM pg_attribute WHERE attrelid = to_regclass($1) AND attname = $2',
    [path, plainName(column)],
  )
  return row !== undefined && widens(typeOf(String(row['type'])), typeOf(type))
}

/** MariaDB: true if the new definition of a column changes its type, unless a `varchar` only becomes longer. */
export async function copiesTable({ path, text }: Operation, { ask }: Facts): Promise<boolean> {
  const [, column, type] =
    pattern(
      '^(?:CHANGE|MODIFY) (?:COLUMN )?(?:IF EXISTS )?(NAME) (?:(?<=CHANGE .*)NAME )?(\\w+(?: ?\\([^)]*\\))?(?: UNSIGNED)?)',
    ).exec(text) ?? []
  if (column === undefined || type === undefined) return true
  const [row] = await ask(
    'SELECT column_type AS type FROM information_schema.columns WHERE table_schema = DATABASE() AND table_name = ? AND column_name = ?',
    [plainName(path), plainName(column)],
  )
  if (row === undefined) return true
  const [from, to] = [typeOf(String(row['type'])), typeOf(type)]
  return !(
    from.base === to.base &&
    (to.base.includes('int') || sameSizes(from, to) || (to.base === 'varchar' && widens(from, to)))
  )
}

/** PostgreSQL: true if each row gets a value of its own. */
export async function isVolatile({ text }: Operation, { ask }: Facts): Promise<boolean> {
  if (/\b(BIG|SMALL)?SERIAL\d?\b|\bIDENTITY\b|\bSTORED\b/i.test(text)) return true
  const value = /\bDEFAULT (.*)$/i.exec(text)?.[1] ?? ''
  const names = [...value.matchAll(/(\w+)"? ?\(/g)].map(([, name]) => name!.toLowerCase())
  if (names.length === 0) return false
  const found = await ask("SELECT 1 FROM pg_proc WHERE lower(proname) = ANY($1) AND provolatile = 'v'", [
    names,
  ])
  return found.length > 0
}

/** PostgreSQL: true unless a valid check already says that the column is not null. */
export async function lacksCheck({ path, text }: Operation, { ask, isRequired }: Facts): Promise<boolean> {
  const column = plainName(pattern('^ALTER (?:COLUMN )?(NAME) SET').exec(text)?.[1] ?? text)
  if (isRequired(`${plainName(path)}.${column}`)) return false
  const checks = await ask(
    "SELECT pg_get_constraintdef(oid) AS text FROM pg_constraint WHERE conrelid = to_regclass($1) AND contype = 'c' AND convalidated",
    [path],
  )
  return !checks.some((row) => requiredColumn(String(row['text'])) === column)
}

/** Returns the column of `CHECK (column IS NOT NULL)`. */
export function requiredColumn(check: string): string | undefined {
  const column = pattern('CHECK ?\\(+(NAME) IS NOT NULL\\)+').exec(check)?.[1]
  return column === undefined ? undefined : plainName(column)
}

/** SQLite: true if the copy of a table leaves a column out. */
export async function losesColumn({ path, text }: Operation, { ask, isRebuilt }: Facts): Promise<boolean> {
  const [, list = ''] = /\) SELECT (.*) FROM /i.exec(text) ?? []
  const copied = new Set(splitList(list).map((item) => plainName(item)))
  return (
    isRebuilt(path) && (await ask(`PRAGMA table_info(${path})`)).some(({ name }) => !copied.has(String(name)))
  )
}

/** SQLite: true if the copy of a table has a column that needs a value and gets none. */
export function lacksValue({ path, text }: Operation, { isRebuilt, definitionOf }: Facts): boolean {
  const [, target, list = ''] = pattern('^INSERT INTO (NAME) ?\\(([^)]*)\\)').exec(text) ?? []
  const definition = target === undefined ? undefined : definitionOf(target)
  if (definition === undefined || !isRebuilt(path)) return false
  const copied = new Set(splitList(list).map((item) => plainName(item)))
  const columns = splitList(/\((.*)\)/.exec(definition)?.[1] ?? '')
  return columns.some((column) => {
    const name = pattern('^(?!CONSTRAINT|PRIMARY|FOREIGN|UNIQUE|CHECK)(NAME) ').exec(column)?.[1]
    return name !== undefined && !copied.has(plainName(name)) && isRequiredColumn(column)
  })
}

function isRequiredColumn(column: string): boolean {
  return /\bNOT NULL\b/i.test(column) && !/\bDEFAULT\b|\bAS ?\(/i.test(column)
}

interface Type {
  readonly base: string
  readonly sizes: readonly number[]
}

function typeOf(text: string): Type {
  const type = text
    .toLowerCase()
    .replace('character varying', 'varchar')
    .replace(/ (without|with) time zone/, '$1')
  const sizes = /\(([\d, ]+)\)/.exec(type)?.[1]?.split(',').map(Number) ?? []
  return {
    base: type
      .replace(/ ?\([^)]*\)/, '')
      .replace(/^(integer|int4)$/, 'int')
      .replace('decimal', 'numeric')
      .trim(),
    sizes,
  }
}

/** Types that are stored alike in each length. */
const ELASTIC = /^(varchar|text|numeric|varbit|interval|time)/

function widens(from: Type, to: Type): boolean {
  if (to.base === 'text' && from.base === 'varchar') return true
  if (from.base !== to.base) return from.base === 'text' && to.base === 'varchar' && to.sizes.length === 0
  if (sameSizes(from, to)) return true
  if (!ELASTIC.test(to.base)) return false
  const [least, scale] = from.sizes
  return to.sizes.length === 0 || (least !== undefined && to.sizes[0]! >= least && to.sizes[1] === scale)
}

function sameSizes(from: Type, to: Type): boolean {
  return from.sizes.join() === to.sizes.join()
}
