import type { DataSource, EntityMetadata, FindOperator } from 'typeorm'
import { typeorm } from '../drivers/typeorm.ts'
import type { ColumnMetadata } from 'typeorm/metadata/ColumnMetadata.js'
import { valueCheck } from './check-value.ts'
import { type Definition, nameOfParam } from './find-options.ts'
import { columnAt, QueryNotCompiled } from './read-metadata.ts'
import type { Binder } from './statement.ts'

/** The conditions of a statement, with the word WHERE, and the values of its placeholders. */
export interface Conditions {
  readonly sql: string
  readonly binders: Binder[]
}

/** Compiles `where`, and leaves out rows that were deleted softly. @throws QueryNotCompiled for other operators. */
export function compileConditions(
  dataSource: DataSource,
  metadata: EntityMetadata,
  { where = {}, withDeleted = false }: Definition,
): Conditions {
  const writer = new ConditionWriter(dataSource, metadata)
  const terms = writer.terms(where, '')
  const { deleteDateColumn } = metadata
  if (deleteDateColumn && !withDeleted)
    terms.push(`${dataSource.driver.escape(deleteDateColumn.databaseName)} IS NULL`)
  return { sql: terms.length > 0 ? ` WHERE ${terms.join(' AND ')}` : '', binders: writer.binders }
}

const COMPARISONS: Partial<Record<FindOperator<unknown>['type'], string>> = {
  equal: '=',
  lessThan: '<',
  lessThanOrEqual: '<=',
  moreThan: '>',
  moreThanOrEqual: '>=',
  like: 'LIKE',
}

/** Writes conditions and collects the values of their placeholders in the same order. */
class ConditionWriter {
  readonly binders: Binder[] = []
  readonly #dataSource: DataSource
  readonly #metadata: EntityMetadata

  constructor(dataSource: DataSource, metadata: EntityMetadata) {
    this.#dataSource = dataSource
    this.#metadata = metadata
  }

  terms(where: object, prefix: string): string[] {
    return Object.entries(where).flatMap(([key, given]) => {
      const path = `${prefix}${key}`
      if (this.#metadata.findEmbeddedWithPropertyPath(path))
        return isPlain(given) ? this.terms(given, `${path}.`) : this.#refuse(path, given)
      return [this.#term(columnAt(this.#metadata, path), given)]
    })
  }

  #term(column: ColumnMetadata, given: unknown): string {
    const name = this.#dataSource.driver.escape(column.databaseName)
    if (given === null) return `${name} IS NULL`
    if (!typeorm.InstanceChecker.isFindOperator(given)) return `${name} = ${this.#placeholder(column, given)}`
    const { type, child, value } = given as FindOperator<unknown>
    if (type === 'isNull') return `${name} IS NULL`
    if (type === 'not') return `NOT(${this.#term(column, child ?? value)})`
    if (type === 'in' && Array.isArray(value))
      return value.length === 0
        ? '0=1'
        : `${name} IN (${value.map((one) => this.#placeholder(column, one)).join(', ')})`
    const comparison = COMPARISONS[type]
    if (comparison === undefined || child !== undefined) return this.#refuse(column.propertyPath, type)
    return `${name} ${comparison} ${this.#placeholder(column, value, type === 'like')}`
  }

  /** Binds a value in the form that the column stores. A pattern only passes through the column's transformer. */
  #placeholder(column: ColumnMetadata, given: unknown, isPattern = false): string {
    const { driver } = this.#dataSource
    const name = nameOfParam(given)
    if (
      name === undefined &&
      (given === undefined || given === null || typeorm.InstanceChecker.isFindOperator(given))
    )
      this.#refuse(column.propertyPath, given)
    const store = (value: unknown): unknown =>
      isPattern && !column.transformer ? value : driver.preparePersistentValue(value, column)
    // A pattern is compared as text on every database.
    const check = isPattern ? undefined : valueCheck(column, this.#dataSource)
    this.binders.push(
      name === undefined
        ? () => store(given)
        : (values) => {
            const value = required(Object.hasOwn(values, name) ? values[name] : undefined, name, column)
            check?.(value, name)
            return single(store(value), name, column)
          },
    )
    return driver.createParameter(name ?? column.propertyName, this.binders.length - 1)
  }

  #refuse(path: string, given: unknown): never {
    const found = typeof given === 'string' ? `the operator '${given}'` : String(given)
    throw new QueryNotCompiled(this.#metadata.name, `the condition of '${path}' is ${found}`)
  }
}

/** Refuses null and undefined: in SQL nothing equals null, so the query would silently find no row. */
function required(value: unknown, name: string, { propertyPath }: ColumnMetadata): unknown {
  if (value instanceof Date && Number.isNaN(value.getTime()))
    throw new TypeError(`The parameter '${name}' of the column '${propertyPath}' is an invalid date.`)
  if (value !== undefined && value !== null) return value
  throw new TypeError(
    `The parameter '${name}' of the column '${propertyPath}' is ${String(value)}. Give a value, or write where: { ${propertyPath}: null }.`,
  )
}

/**
 * Returns a value that is bound to one placeholder. Drivers spread a list over several placeholders and read an object
 * as names or columns, so that unchecked input could change other conditions.
 */
function single(value: unknown, name: string, { propertyPath, isArray }: ColumnMetadata): unknown {
  if (typeof value !== 'object' && typeof value !== 'function') return value
  const isList = Array.isArray(value)
  if (isList ? isArray : typeof value === 'object' && !isPlain(value) && Object.getPrototypeOf(value))
    return value
  throw new TypeError(
    `The parameter '${name}' of the column '${propertyPath}' is ${isList ? 'a list' : `a value of type ${typeof value}`}. Give one value.`,
  )
}

/** True for an object literal, not for a value of a column such as a date or a buffer. */
export function isPlain(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null && Object.getPrototypeOf(value) === Object.prototype
}
