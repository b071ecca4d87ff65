import type { DataSource, EntityMetadata } from 'typeorm'

/**
 * MariaDB and MySQL name the index of a duplicate key, and not its columns. The entities of an open DataSource have
 * both.
 */
const sources = new Set<WeakRef<DataSource>>()

/** Lets `uniqueColumns` find the keys of a DataSource as long as the DataSource is used. */
export function rememberKeys(dataSource: DataSource): void {
  const { type } = dataSource.options
  if (type !== 'mysql' && type !== 'mariadb') return
  for (const source of sources) {
    const present = source.deref()
    if (present === dataSource) return
    if (present === undefined) sources.delete(source)
  }
  sources.add(new WeakRef(dataSource))
}

/** Returns the columns of a unique index or of the primary key of a table; undefined if no entity has it. */
export function uniqueColumns(name: string, table: string | undefined): string[] | undefined {
  for (const source of sources)
    for (const metadata of source.deref()?.entityMetadatas ?? []) {
      if (table !== undefined && metadata.tableName !== table) continue
      const columns = keysOf(metadata, table !== undefined).get(name)
      if (columns !== undefined) return columns.map(({ databaseName }) => databaseName)
    }
  return undefined
}

/** Returns the columns of unique indices by name. The primary key has the same name in every table. */
function keysOf(metadata: EntityMetadata, isTableKnown: boolean): Map<string, EntityMetadata['columns']> {
  const named = [...metadata.indices, ...metadata.uniques]
  const keys = new Map(named.map(({ name, columns }) => [name, columns] as const))
  return isTableKnown ? keys.set('PRIMARY', metadata.primaryColumns) : keys
}
