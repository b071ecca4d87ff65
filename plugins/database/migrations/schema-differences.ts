import type { DataSource, EntityMetadata } from 'typeorm'
import type { Environment, Logger } from 'mortar'
import { changeStatements } from '../gate/change-statements.ts'
import { withRunner } from '../with-runner.ts'

/** With more tables than this, a start does not compare them. */
const MOST_TABLES = 300

/** Most differences that a message names. */
const MOST_NAMED = 8

/** The remedy for a database that differs from its entities. */
export const DIFFERENCE_REMEDY =
  "Generate a migration from the difference and run it: npx mortar migrate generate 'what changed', npx mortar migrate run"

/**
 * Lists how a connected database differs from its entities: missing tables, missing and unknown columns, and tables that
 * differ in another way. Changes nothing.
 */
export async function schemaDifferences(db: DataSource): Promise<readonly string[]> {
  const found = await columnDifferences(db)
  if (found.length > 0) return found
  const { up } = await changeStatements(db)
  return [...new Set(up.map(({ query }) => otherDifference(query)))]
}

/** Describes differences in one sentence. */
export function describeDifferences(differences: readonly string[]): string {
  const rest = differences.length - MOST_NAMED
  const named = differences.slice(0, MOST_NAMED).join('; ')
  return `The database differs from the schema module: ${named}${rest > 0 ? `; ${rest} more` : ''}.`
}

/** Logs a warning if the database differs from its entities. In development only, as it costs some statements. */
export async function warnOfDifferences(
  db: DataSource,
  { environment, logger }: { readonly environment: Environment; readonly logger: Logger },
): Promise<void> {
  if (environment !== 'development' || db.options.synchronize === true) return
  if (db.entityMetadatas.length === 0 || db.entityMetadatas.length > MOST_TABLES) return
  // The check is only a convenience: without the right to read the catalogue the application starts as well.
  const differences = await schemaDifferences(db).catch(() => [])
  if (differences.length === 0) return
  logger.warn({ brick: 'database' }, `${describeDifferences(differences)} ${DIFFERENCE_REMEDY}`)
}

async function columnDifferences(db: DataSource): Promise<string[]> {
  const entities = db.entityMetadatas.filter(isTable)
  const paths = entities.map(({ tablePath }) => tablePath)
  const tables = await withRunner(db, (runner) => runner.getTables(paths))
  const nameOf = (table: string): string => db.driver.parseTableName(table).tableName
  const present = new Map(tables.map((table) => [nameOf(table.name), table]))
  return entities.flatMap((entity) => {
    const table = present.get(entity.tableName)
    if (table === undefined) return [`the table ${entity.tableName} is missing`]
    const columns = new Set(table.columns.map(({ name }) => name))
    const wanted = new Set(columnsOf(entity))
    return [
      ...[...wanted]
        .filter((name) => !columns.has(name))
        .map((name) => `the column ${entity.tableName}.${name} is missing`),
      ...[...columns]
        .filter((name) => !wanted.has(name))
        .map((name) => `the column ${entity.tableName}.${name} is not in the schema`),
    ]
  })
}

/** False for views, and for tables that the application manages itself. */
function isTable({ tableType, synchronize }: EntityMetadata): boolean {
  return tableType !== 'view' && synchronize !== false
}

/** Columns of the table, also those of other entities on it (`ChildEntity`) and of virtual columns that have none. */
function columnsOf({ columns, childEntityMetadatas }: EntityMetadata): string[] {
  return [columns, ...childEntityMetadatas.map((child) => child.columns)]
    .flat()
    .filter(({ isVirtualProperty }) => !isVirtualProperty)
    .map(({ databaseName }) => databaseName)
}

/** Describes a statement that would change something else than a column, by its table or index. */
function otherDifference(statement: string): string {
  const table = nameAfter('TABLE|ON|INTO', statement)
  if (table !== undefined) return `the table ${table} differs in a type, a default, an index or a key`
  const index = nameAfter('INDEX', statement)
  return index === undefined ? 'another difference' : `the index ${index} is not in the schema`
}

/** Returns the last part of the name after a word of a statement: `"public"."notes"` is notes. */
function nameAfter(word: string, statement: string): string | undefined {
  const name = new RegExp(`\\b(?:${word})\\s+(?:[\`"]?[\\w$]+[\`"]?\\.)?[\`"]?(?:temporary_)?([\\w$]+)`, 'i')
  return name.exec(statement)?.[1]
}
