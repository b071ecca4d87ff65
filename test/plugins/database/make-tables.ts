import { EntitySchema, type DataSource } from 'typeorm'
import { createDataSource, type ConnectionOptions, type Entities } from '@mortar/database'
import { takeEntities } from '../../../plugins/database/entities.ts'

/** The statements that made the tables of entities in an empty place, by kind of database and entities. */
const recorded = new Map<string, readonly string[]>()

/**
 * Makes the tables of entities in an empty place as `synchronize` does, which makes each table three times on SQLite and
 * changes each several times on a server. So only the first place of its kind is synchronized. `run` makes the same
 * tables in the others.
 */
export async function makeTables(
  options: ConnectionOptions,
  entities: Entities,
  run: (statements: readonly string[]) => Promise<unknown>,
): Promise<void> {
  const key = `${options.type} ${describe(entities)}`
  const statements = recorded.get(key)
  if (statements !== undefined) return void (await run(statements))
  const source = await createDataSource({ ...options, entities }).initialize()
  try {
    recorded.set(key, await synchronize(source))
  } finally {
    await source.destroy()
  }
}

/** Everything that an entity says about its table. */
function describe(entities: Entities): string {
  const schemas = takeEntities(entities).map((entity) => {
    if (!(entity instanceof EntitySchema)) throw new Error('Only an EntitySchema can be described.')
    return entity.options
  })
  return JSON.stringify(schemas, (_, value: unknown) => (typeof value === 'function' ? String(value) : value))
}

async function synchronize(source: DataSource): Promise<string[]> {
  const { type } = source.options
  const { upQueries } = await source.driver.createSchemaBuilder().log()
  await source.synchronize()
  if (type === 'postgres') return upQueries.map(({ query }) => query)
  if (type === 'better-sqlite3') return sqliteTables(source)
  const shown = source.entityMetadatas.map(({ tableName }) =>
    source.query<Record<string, string>[]>(`show create table ${tableName}`),
  )
  return (await Promise.all(shown)).map(([row]) => row!['Create Table']!)
}

async function sqliteTables(source: DataSource): Promise<string[]> {
  const rows = await source.query<{ sql: string }[]>(
    `select sql from sqlite_master where sql is not null and name not like 'sqlite%' order by type desc`,
  )
  return rows.map(({ sql }) => sql)
}
