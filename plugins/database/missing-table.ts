import type { Middleware } from '../../src/index.ts'
import { problem } from './problems.ts'

/** The relevant members of the drivers' errors, which TypeORM copies to its `QueryFailedError`. */
interface DriverError {
  readonly code?: unknown
  readonly message?: unknown
  readonly driverError?: { readonly message?: unknown }
}

/**
 * Returns the missing table that caused an error, or undefined for any other error. Knows SQLite (`no such table:
 * notes`), PostgreSQL (42P01) and MariaDB and MySQL (ER_NO_SUCH_TABLE), as thrown by the driver or by TypeORM.
 */
export function missingTable(error: unknown): string | undefined {
  if (typeof error !== 'object' || error === null) return undefined
  const { code, message, driverError } = error as DriverError
  const pattern = PATTERNS[String(code)]
  return pattern?.exec(String(driverError?.message ?? message))?.groups?.['table']
}

const PATTERNS: Readonly<Record<string, RegExp>> = {
  SQLITE_ERROR: /no such table: (?:main\.)?(?<table>.+)$/,
  '42P01': /relation "(?:.+\.)?(?<table>[^"]+)" does not exist/,
  ER_NO_SUCH_TABLE: /Table '(?:[^']+?\.)?(?<table>[^'.]+)' doesn't exist/,
}

/** Remedy for a missing table. */
export const MISSING_TABLE_REMEDY =
  'Export its EntitySchema from the schema module, then generate and run a migration (`mortar migrate`).'

/**
 * Adds the remedy to the problem that a missing table causes. The brick uses it outside production: in production the
 * error stays a 500 without details, and no request pays for the middleware.
 */
export const explainMissingTables: Middleware = async (_ctx, next) => {
  try {
    return await next()
  } catch (error) {
    const table = missingTable(error)
    if (table === undefined) throw error
    throw problem('missing_table', `no such table: ${table}. ${MISSING_TABLE_REMEDY}`, { cause: error })
  }
}
