import { StartupError } from 'mortar'
import { inTime, lateDatabase } from 'mortar/kit'
import { DatabaseUnavailable } from '@mortar/auth/provider'
import { isInternal, translateDriverError } from './driver-error.ts'

/** A document in the driver's form. */
export type Document = Readonly<Record<string, unknown>>

/**
 * The part of the official driver's `Db` that the store uses. A structural type, so that only applications with a
 * document database need the driver.
 */
export interface DbLike {
  collection(name: string, options?: object): CollectionLike
  command?(command: Document): Promise<object>
  /** The write concern of the connection, whose time limit and journal setting are kept. */
  readonly writeConcern?: { readonly wtimeoutMS?: number; readonly journal?: boolean } | undefined
}

/** The part of the driver's `Collection` that the store uses. */
export interface CollectionLike {
  findOne(filter: Document): Promise<object | null>
  find(filter: Document, options?: object): { toArray(): Promise<object[]> }
  insertOne(document: Document): Promise<unknown>
  updateOne(
    filter: Document,
    change: Document,
    options?: { readonly upsert?: boolean },
  ): Promise<{ readonly matchedCount: number }>
  findOneAndUpdate(filter: Document, change: Document, options: object): Promise<object | null>
  bulkWrite(writes: never[], options: { readonly ordered: boolean }): Promise<unknown>
  deleteOne(filter: Document): Promise<{ readonly deletedCount: number }>
  deleteMany(filter: Document): Promise<{ readonly deletedCount: number }>
  aggregate(pipeline: never[]): { toArray(): Promise<object[]> }
  createIndexes(indexes: never[]): Promise<unknown>
  listIndexes(): { toArray(): Promise<object[]> }
}

/** The part of a TypeORM DataSource of the type `mongodb` that the store uses. */
export interface MongoDataSourceLike {
  readonly options: { readonly type: string; readonly entityPrefix?: string }
  readonly driver: object
}

/** Database of `documentAuth`: the driver's own `Db`, or a TypeORM DataSource of the type `mongodb`. */
export type DocumentDatabase = DbLike | MongoDataSourceLike

/** The collections of the auth brick and of its features. */
export type CollectionName = `auth_${string}`

/** Runs one operation on a collection. */
export type Run = <Result>(
  collection: CollectionName,
  operation: (collection: CollectionLike) => Promise<Result>,
) => Promise<Result>

/** Milliseconds that one operation may take by default. */
export const OPERATION_TIMEOUT = 10_000

/**
 * Creates the function that runs every operation. `source` is called each time, so it may connect later. An error keeps
 * only the driver's message and code, because its details may contain the document. An operation may take
 * `milliseconds()`; it may still happen afterwards.
 * @throws DatabaseUnavailable (503) for a server that cannot be reached or is too slow.
 */
export function createRun(source: () => DocumentDatabase, milliseconds: () => number | undefined): Run {
  return async (name, operation) => {
    const limit = milliseconds()
    const collection = collectionOf(source(), name, limit)
    try {
      return await bounded(() => operation(collection), limit)
    } catch (error) {
      if (isInternal(error) && !(await canRead(collection, limit))) throw new DatabaseUnavailable(error)
      throw error
    }
  }
}

/** An internal error does not tell if the server works. A look-up that fails too shows that it does not. */
function canRead(collection: CollectionLike, limit: number | undefined): Promise<boolean> {
  return bounded(() => collection.findOne({ _id: '' }), limit).then(
    () => true,
    () => false,
  )
}

async function bounded<T>(work: () => Promise<T>, limit: number | undefined): Promise<T> {
  try {
    if (limit === undefined) return await work()
    return await inTime(work(), limit, () => new DatabaseUnavailable(lateDatabase(limit)))
  } catch (error) {
    throw error instanceof DatabaseUnavailable ? error : translateDriverError(error)
  }
}

/**
 * Operation settings, independent of the connection's defaults: reads see the last write, a write is acknowledged when
 * it survives the loss of a server, and numbers are returned as numbers. The time limit and the journal setting of the
 * connection's write concern are kept; without a limit the server would wait for a lost majority forever.
 */
function optionsFor({ writeConcern }: DbLike, limit: number | undefined): object {
  const { wtimeoutMS = limit, journal } = writeConcern ?? {}
  return {
    readPreference: 'primary',
    writeConcern: {
      w: 'majority',
      ...(wtimeoutMS !== undefined && { wtimeoutMS }),
      ...(journal !== undefined && { journal }),
    },
    promoteValues: true,
    promoteLongs: true,
    useBigInt64: false,
  }
}

function collectionOf(
  source: DocumentDatabase,
  name: CollectionName,
  limit: number | undefined,
): CollectionLike {
  const db = dbOf(source)
  const prefix = isDb(source) ? '' : (source.options.entityPrefix ?? '')
  return db.collection(`${prefix}${name}`, optionsFor(db, limit))
}

/** Runs a command in `limit` milliseconds. @returns an empty object for a connection that cannot run commands. */
export function commandOf(source: DocumentDatabase, command: Document, limit: number): Promise<object> {
  const db = dbOf(source)
  return bounded(async () => (await db.command?.(command)) ?? {}, limit)
}

function isDb(source: DocumentDatabase): source is DbLike {
  return typeof (source as Partial<DbLike> | undefined)?.collection === 'function'
}

/** TypeORM keeps the driver's client in a query runner that exists while it is connected. */
interface MongoDriverLike {
  readonly database?: string
  readonly queryRunner?: { readonly databaseConnection: { db(name?: string): DbLike } }
}

/** Returns the driver's `Db`. @throws StartupError `MORTAR_AUTH_DATABASE` for another database. */
export function dbOf(source: DocumentDatabase): DbLike {
  if (isDb(source)) return source
  return databaseOf(source)
}

function databaseOf(source: MongoDataSourceLike | undefined): DbLike {
  const type = source?.options?.type
  if (type !== 'mongodb')
    throw refusal(`is given ${type === undefined ? 'no database' : `a DataSource of the type '${type}'`}`)
  const { queryRunner, database } = source!.driver as MongoDriverLike
  if (!queryRunner) throw refusal('is given a DataSource that is not connected')
  return queryRunner.databaseConnection.db(database)
}

function refusal(what: string): StartupError {
  return new StartupError(`documentAuth() ${what}.`, {
    code: 'MORTAR_AUTH_DATABASE',
    remedy:
      "Give it db: the driver's Db, or a TypeORM DataSource of the type 'mongodb' that the database brick " +
      'or you connect; on a relational database use basicAuth().',
    brick: 'auth',
  })
}
