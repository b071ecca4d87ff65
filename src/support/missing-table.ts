import { errorChain } from './error-chain.ts'

/**
 * Returns the missing table that caused an error, or undefined for any other error. Knows SQLite (`no such table:
 * notes`), PostgreSQL (42P01) and MariaDB and MySQL (ER_NO_SUCH_TABLE), as thrown by the driver or by TypeORM.
 */
export function missingTable(error: unknown): string | undefined {
  // TypeORM copies the members of a driver's error to its `QueryFailedError`.
  const [each] = errorChain(error, 1)
  return PATTERNS[String(each?.code)]?.exec(String(each?.message))?.groups?.['table']
}

const PATTERNS: Readonly<Record<string, RegExp>> = {
  SQLITE_ERROR: /no such table: (?:main\.)?(?<table>.+)$/,
  // A server may have another language, with other quotes.
  '42P01': /["«»„]\s?(?:[^"«»“]+\.)?(?<table>[^"«»“]+?)\s?["«»“]/,
  ER_NO_SUCH_TABLE: /'(?:[^']+?\.)?(?<table>[^'.]+)'/,
}

/**
 * Returns the missing column that caused an error, with its table where the database names it, or undefined for any other
 * error. Knows SQLite, PostgreSQL (42703) and MariaDB and MySQL (ER_BAD_FIELD_ERROR).
 */
export function missingColumn(error: unknown): string | undefined {
  const [each] = errorChain(error, 1)
  for (const pattern of COLUMN_PATTERNS[String(each?.code)] ?? []) {
    const { table, column } = pattern.exec(String(each?.message))?.groups ?? {}
    if (column !== undefined) return table === undefined ? column : `${table}.${column}`
  }
  return undefined
}

const COLUMN_PATTERNS: Readonly<Record<string, readonly RegExp[]>> = {
  SQLITE_ERROR: [
    /no such column: (?:(?<table>[^\s.]+)\.)?(?<column>[^\s.]+)$/,
    /table (?<table>\S+) has no column named (?<column>\S+)/,
  ],
  '42703': [
    /column "(?<column>[^"]+)" of relation "(?<table>[^"]+)" does not exist/,
    /column "?(?:(?<table>[^\s".]+)\.)?(?<column>[^\s"]+)"? does not exist/,
  ],
  ER_BAD_FIELD_ERROR: [/Unknown column '(?:(?<table>[^'.]+)\.)?(?<column>[^'.]+)'/],
}
