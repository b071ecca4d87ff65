import type { DataSource } from 'typeorm'
import { PROGRESS } from '../in-batches.ts'

/**
 * Lists the tables of a connected database that no entity describes, without the tables of migrations. `mortar migrate
 * generate` never drops such a table: it may belong to another program. Empty for a kind of database without a statement
 * here.
 */
export async function unknownTables(db: DataSource): Promise<readonly string[]> {
  const found = await allTables(db)
  const { migrationsTableName = 'migrations', metadataTableName = 'typeorm_metadata' } = db.options
  const known = new Set([migrationsTableName, metadataTableName, PROGRESS, ...db.entityMetadatas.map(nameOf)])
  return found.filter((name) => !known.has(name)).toSorted()
}

function nameOf({ tableName }: { readonly tableName: string }): string {
  return tableName
}

const STATEMENTS: Readonly<Record<string, string>> = {
  'better-sqlite3':
    "select name from sqlite_master where type = 'table' and name not like 'sqlite\\_%' escape '\\'",
  postgres:
    'select table_name as name from information_schema.tables ' +
    "where table_type = 'BASE TABLE' and table_schema = coalesce($1, current_schema())",
  mysql:
    'select table_name as name from information_schema.tables ' +
    "where table_type = 'BASE TABLE' and table_schema = database()",
}

async function allTables(db: DataSource): Promise<string[]> {
  const { type, schema } = db.options as { readonly type: string; readonly schema?: string }
  const kind = type === 'mariadb' ? 'mysql' : type
  const statement = STATEMENTS[kind]
  if (statement === undefined) return []
  const rows = await db.query<{ readonly name: string }[]>(
    statement,
    kind === 'postgres' ? [schema ?? null] : [],
  )
  return rows.map(({ name }) => name)
}
