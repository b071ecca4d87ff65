import { join } from 'node:path'
import { fromUrl } from '@mortar/database'
import * as features from '../feature-schema.ts'
import * as schema from '../schema.ts'
import { settings } from './settings.ts'

const connection = fromUrl(settings.databaseUrl)

/** A migration is written in the SQL of one kind of database. */
const dialect = connection.type === 'mariadb' ? 'mysql' : connection.type
const migrations = join(import.meta.dirname, '../migrations', dialect)

/** An embedded SQLite file, unless `DATABASE_URL` is set. Migrations run at start, but not in production. */
export const databaseOptions = {
  ...connection,
  entities: { ...schema, ...features },
  migrations,
  migrate: settings.environment !== 'production',
}
