// #if database
import { join } from 'node:path'
import { fromUrl } from 'mortar/database'
import * as schema from '../schema.ts'
import { settings } from './settings.ts'

const connection = fromUrl(settings.databaseUrl)
// #end
// #if sqlite

/** An embedded SQLite file, until `DATABASE_URL` says otherwise. Migrations run at the start, but not in production. */
export const databaseOptions = {
  ...connection,
  entities: schema,
  // A migration is written in the SQL of one kind of database.
  migrations: join(import.meta.dirname, '../migrations', connection.type),
  migrate: settings.environment !== 'production',
}
// #end
// #if postgres
const isPostgres = connection.type === 'postgres'

/**
 * PostgreSQL; its migrations run at the start, but not in production. Tests without a server of theirs use SQLite in
 * memory, with tables made from the schema, as a migration is written in the SQL of one kind of database.
 */
export const databaseOptions = {
  ...connection,
  entities: schema,
  migrations: join(import.meta.dirname, '../migrations/postgres'),
  migrate: isPostgres && settings.environment !== 'production',
  synchronize: settings.environment === 'test' && !isPostgres,
}
// #end
