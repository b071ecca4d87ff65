// #if database
import { join } from 'node:path'
import { fromUrl } from '@mortar/database'
import * as schema from '../schema.ts'
import { settings } from './settings.ts'

const connection = fromUrl(settings.databaseUrl)
// #end
// #if sqlite

/** By default, an embedded SQLite file. Migrations run at the start, except in production. */
export const databaseOptions = {
  ...connection,
  entities: schema,
  // A migration contains the SQL of one kind of database.
  migrations: join(import.meta.dirname, '../migrations', connection.type),
  migrate: settings.environment !== 'production',
}
// #end
// #if server
const isServer = connection.type === '{{dialect}}'

/**
 * {{server}}; its migrations run at the start, except in production. Without a database server of their own, tests use
 * SQLite in memory, with tables made from the schema, because a migration contains the SQL of one kind of database.
 */
export const databaseOptions = {
  ...connection,
  entities: schema,
  migrations: join(import.meta.dirname, '../migrations/{{dialect}}'),
  migrate: isServer && settings.environment !== 'production',
  synchronize: settings.environment === 'test' && !isServer,
}
// #end
