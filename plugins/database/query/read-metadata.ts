import type { DataSource, EntityMetadata } from 'typeorm'
import type { ColumnMetadata } from 'typeorm/metadata/ColumnMetadata.js'

/** Thrown for a query that only TypeORM's repository can run. */
export class QueryNotCompiled extends TypeError {
  override readonly name = 'QueryNotCompiled'

  constructor(entity: string, reason: string) {
    super(`query(${entity}) cannot be compiled: ${reason}. Use getRepository(${entity}) for it.`)
  }
}

/**
 * Refuses an entity whose rows TypeORM makes in more steps than reading columns.
 * @throws QueryNotCompiled
 */
export function refuseEntity(dataSource: DataSource, metadata: EntityMetadata): void {
  for (const [reason, found] of Object.entries(hindrances(dataSource, metadata)))
    if (found) throw new QueryNotCompiled(metadata.name, reason)
}

function hindrances(dataSource: DataSource, metadata: EntityMetadata): Record<string, boolean> {
  const { columns, embeddeds, relations, target } = metadata
  const types: readonly unknown[] = dataSource.driver.spatialTypes
  return {
    [`the database '${dataSource.options.type}' is not supported`]: !DATABASES.has(dataSource.options.type),
    'it is not a plain table': metadata.tableType !== 'regular' || metadata.discriminatorColumn !== undefined,
    'its rows are objects of a class':
      typeof target === 'function' || embeddeds.some(({ type }) => typeof type === 'function'),
    'it has an eager or lazy relation': relations.some(({ isEager, isLazy }) => isEager || isLazy),
    'it lists the ids of related rows': metadata.relationIds.length > 0,
    'a listener or a subscriber has afterLoad':
      metadata.afterLoadListeners.length > 0 ||
      dataSource.subscribers.some(
        (subscriber) =>
          subscriber.afterLoad !== undefined && [undefined, Object, target].includes(subscriber.listenTo?.()),
      ),
    'it has a virtual column': columns.some(({ isVirtualProperty }) => isVirtualProperty),
    'it has a spatial column': columns.some(({ type }) => types.includes(type)),
    'the DataSource has the option typename': dataSource.options.typename !== undefined,
  }
}

const DATABASES: ReadonlySet<string> = new Set(['better-sqlite3', 'postgres', 'mysql', 'mariadb'])

/**
 * Returns the columns to read, in the order of the entity: those that `select` names, else all. A column with
 * `select: false` needs its own name; the name of its embedded object is not enough.
 */
export function selectColumns(metadata: EntityMetadata, select: object = {}): ColumnMetadata[] {
  const own = metadata.columns.filter(({ isVirtual }) => !isVirtual)
  const names = new Set(selectedNames(metadata, select))
  if (names.size === 0) return own.filter(({ isSelect }) => isSelect)
  return own.filter(
    ({ propertyPath, isSelect }) =>
      names.has(propertyPath) || (isSelect && names.has(propertyPath.split('.')[0]!)),
  )
}

function selectedNames(metadata: EntityMetadata, select: object): string[] {
  const given = Object.entries(select).filter(
    ([, isSelected]) => isSelected !== undefined && isSelected !== false,
  )
  for (const [name, isSelected] of given) {
    if (isSelected !== true)
      throw new QueryNotCompiled(metadata.name, `the selection of '${name}' is ${String(isSelected)}`)
    if (!metadata.embeddeds.some(({ propertyName }) => propertyName === name)) columnAt(metadata, name)
  }
  return given.map(([name]) => name)
}

/** @throws QueryNotCompiled for a property that the entity does not have, and for a relation. */
export function columnAt(metadata: EntityMetadata, path: string): ColumnMetadata {
  const column = metadata.columns.find(({ propertyPath, isVirtual }) => propertyPath === path && !isVirtual)
  if (column) return column
  const isRelation = metadata.relations.some(({ propertyName }) => propertyName === path.split('.')[0])
  const known = metadata.columns.filter(({ isVirtual }) => !isVirtual).map(({ propertyPath }) => propertyPath)
  throw new QueryNotCompiled(
    metadata.name,
    isRelation ? `'${path}' is a relation` : `it has no column '${path}', only ${known.join(', ')}`,
  )
}
