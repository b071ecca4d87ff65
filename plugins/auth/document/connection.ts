import { StartupError } from '../../../src/index.ts'

/** A document in the driver's form. */
export type Document = Readonly<Record<string, unknown>>

/**
 * The part of the official driver's `Db` that the store uses. A structural type, so that only applications with a
 * document database need the driver.
 */
export interface DbLike {
  collection(name: string, options?: object): CollectionLike
  command?(command: Document): Promise<object>
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
  deleteOne(filter: Document): Promise<{ readonly deletedCount: number }>
  deleteMany(filter: Document): Promise<unknown>
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

/** The collections of the auth brick. */
export type CollectionName =
  'auth_users' | 'auth_refresh_tokens' | 'auth_reset_tokens' | 'auth_ended_sessions'

/** Runs one operation on a collection. */
export type Run = <Result>(
  collection: CollectionName,
  operation: (collection: CollectionLike) => Promise<Result>,
) => Promise<Result>

/**
 * Creates the function that runs every operation. `source` is called each time, so it may connect later. An error keeps
 * only the driver's message and code, because its details may contain the document.
 */
export function createRun(source: () => DocumentDatabase): Run {
  return async (name, operation) => {
    const collection = collectionOf(source(), name)
    try {
      return await operation(collection)
    } catch (error) {
      throw withoutDetails(error)
    }
  }
}

/**
 * Operation settings, independent of the connection's defaults: reads see the last write, a write is acknowledged when
 * it survives the loss of a server, and numbers are returned as numbers.
 */
const OPTIONS = {
  readPreference: 'primary',
  writeConcern: { w: 'majority' },
  promoteValues: true,
  promoteLongs: true,
  useBigInt64: false,
}

function collectionOf(source: DocumentDatabase, name: CollectionName): CollectionLike {
  if (isDb(source)) return source.collection(name, OPTIONS)
  return dbOf(source).collection(`${source.options.entityPrefix ?? ''}${name}`, OPTIONS)
}

/**
 * Returns the server's clock in milliseconds since the epoch, from its `hello`. For a connection that cannot run
 * commands, returns this process's clock.
 */
export async function serverTime(source: DocumentDatabase): Promise<number> {
  const db = isDb(source) ? source : dbOf(source)
  try {
    const { localTime } = ((await db.command?.({ hello: 1 })) ?? {}) as { readonly localTime?: unknown }
    return localTime instanceof Date ? localTime.getTime() : Date.now()
  } catch (error) {
    throw withoutDetails(error)
  }
}

function isDb(source: DocumentDatabase): source is DbLike {
  return typeof (source as Partial<DbLike> | undefined)?.collection === 'function'
}

/** TypeORM keeps the driver's client in a query runner that exists while it is connected. */
interface MongoDriverLike {
  readonly database?: string
  readonly queryRunner?: { readonly databaseConnection: { db(name?: string): DbLike } }
}

function dbOf(source: MongoDataSourceLike | undefined): DbLike {
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

function withoutDetails(error: unknown): Error {
  if (!(error instanceof Error)) return new Error(String(error))
  const { name, message, code } = error as Error & { readonly code?: unknown }
  return Object.assign(new Error(`${name}: ${message}`), { code })
}
