import { schemaStatements } from '../accounts/schema-entries.ts'
import type { DataSourceLike } from './sql.ts'
import { fault } from '../startup-codes.ts'

/** Tables of the provider. */
export const TABLES = ['auth_users', 'auth_refresh_tokens', 'auth_reset_tokens', 'auth_ended_sessions']

/**
 * Checks that the DataSource has an entity for each table. Migrations are generated from entities, so a table without
 * one is usually missing in the database, and the endpoints that need it fail.
 * @throws StartupError `MORTAR_AUTH_ENTITIES`.
 */
export function checkEntities(source: DataSourceLike, tables: readonly string[]): void {
  const prefix = source.options.entityPrefix ?? ''
  const known = new Set(source.entityMetadatas.map(({ tableName }) => tableName))
  const missing = tables.filter((table) => !known.has(prefix + table))
  if (missing.length === 0) return
  const found = `The DataSource of basicAuth() has no entity for ${missing.join(', ')}.`
  const remedy = `Write ${schemaStatements(missing)} in the schema module that you pass as entities, then generate and run a migration.`
  throw fault('MORTAR_AUTH_ENTITIES', found, { remedy })
}
