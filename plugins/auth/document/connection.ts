import { StartupError } from '../../../src/index.ts'

/** A document as it goes to the driver and comes from it. */
export type Document = Readonly<Record<string, unknown>>

/**
 * The part of the official driver's `Db` that the store uses. By structure, so that the driver is needed only where
 * the application has chosen a document database.
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

/** What `documentAuth` stores in: the driver's own `Db`, or a TypeORM DataSource of the type `mongodb`. */
export type DocumentDatabase = DbLike | MongoDataSourceLike

/** The collections of the authentication. */
export type CollectionName =
  'auth_users' | 'auth_refresh_tokens' | 'auth_reset_tokens' | 'auth_ended_sessions'

/** Runs one operation on a collection. */
export type Run = <Result>(
  collection: CollectionName,
  operation: (collection: CollectionLike) => Promise<Result>,
) => Promise<Result>

/**
 * Makes the function that every operation goes through. `source` is asked each time, so it may connect later. A failure
 * keeps the driver's message and code and nothing else, because its details may hold the document.
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
 * Whatever the connection is set to by default, a flow reads what was written last, a write counts when it survives
 * the loss of a server, and numbers come as numbers.
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
 * Returns the server's clock in milliseconds since the epoch, from its `hello`. A connection that cannot run commands
 * gets this process's clock.
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

/** TypeORM keeps the driver's client in the query runner that it has from connecting to closing. */
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
