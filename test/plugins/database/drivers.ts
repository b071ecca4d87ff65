import { createRequire } from 'node:module'
import { adaptLibsql, type LibsqlClass } from '../../../plugins/database/drivers/libsql-driver.ts'

/** TypeORM's option `driver` by the name of the package; undefined for the default. */
export const SQLITE_DRIVERS: Readonly<Record<string, object | undefined>> = {
  'better-sqlite3': undefined,
  libsql: adaptLibsql(createRequire(import.meta.url)('libsql') as LibsqlClass),
}
