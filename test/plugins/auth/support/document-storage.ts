import { MongoClient, type Collection, type Db, type Document, type IndexDescription } from 'mongodb'
import { documentAuth, ensureAuthIndexes } from '@mortar/auth-document'
import type { MongoServer } from '../../../support/mongo-server/server.ts'
import { newDatabaseName, type MongoTarget } from '../../../support/mongo.ts'
import { Interruptions, statementOf } from './interruptions.ts'
import type { Storage, StorageOptions, StorageVariant } from './storage.ts'

/** documentAuth on one of the servers, through the official driver. All worlds share one client. */
export function onMongo(target: MongoTarget): StorageVariant {
  let server: MongoServer | undefined
  let client: MongoClient | undefined
  let indexes: readonly Indexes[] = []
  return {
    name: `a document database, ${target.name}`,
    async start() {
      server = await target.startBeside()
      client = await new MongoClient(server.url, { serverSelectionTimeoutMS: 5000 }).connect()
      indexes = await readIndexes(client)
    },
    async stop() {
      await client?.close()
      await server?.close()
    },
    open: (options) => open(client!, indexes, options),
  }
}

/** Name of a collection, and its indexes besides the one of `_id`. */
type Indexes = readonly [collection: string, IndexDescription[]]

/** The indexes that the brick makes. A world copies them, since the brick also looks for them and checks the server. */
async function readIndexes(client: MongoClient): Promise<readonly Indexes[]> {
  const db = client.db(newDatabaseName())
  await ensureAuthIndexes(db)
  const collections = await db.collections()
  const all = await Promise.all(
    collections.map(async (each): Promise<Indexes> => [
      each.collectionName,
      (await each.indexes()).filter(({ name }) => name !== '_id_'),
    ]),
  )
  await db.dropDatabase()
  return all.filter(([, { length }]) => length > 0)
}

async function open(
  client: MongoClient,
  indexes: readonly Indexes[],
  { file, ownColumns, withoutTables }: StorageOptions,
): Promise<Storage> {
  const name = typeof file === 'string' ? file : newDatabaseName()
  const db = client.db(name)
  const interruptions = new Interruptions()
  const userFields: Readonly<Record<string, unknown>> = ownColumns
    ? { role: 'user', subscribed: true, settings: null, auth_from: null }
    : {}
  if (typeof file !== 'string' && !withoutTables)
    await Promise.all(indexes.map(([collection, own]) => db.collection(collection).createIndexes(own)))
  const users = db.collection<Document & { _id: string }>('auth_users')
  const rowsOf = async (collection: string) =>
    (await db.collection(collection).find().toArray()).map(({ _id, ...rest }) => ({ id: _id, ...rest }))
  return {
    file: name,
    bricks: [],
    interruptions,
    provider: (options) => documentAuth({ ...options, db: interrupted(db, interruptions), userFields }),
    users: () => rowsOf('auth_users'),
    sessions: () => rowsOf('auth_refresh_tokens'),
    resetTokens: () => rowsOf('auth_reset_tokens'),
    rows: rowsOf,
    changeUsers: (change) => users.updateMany({}, { $set: change }),
    forgetEnds: () => db.collection('auth_ended_sessions').updateMany({}, { $set: { expires_at: 0 } }),
    renameColumn: (table, from, to) => db.collection(table).updateMany({}, { $rename: { [from]: to } }),
    deleteUsers: () => users.deleteMany({}),
    remove: async () => typeof file !== 'string' && db.dropDatabase(),
  }
}

/** True for the read of ended sessions that every process repeats twice a second. */
function isRegularRead({ collectionName }: Collection, [filter]: unknown[]): boolean {
  return collectionName === 'auth_ended_sessions' && 'ended_at' in (filter as object)
}

/** True for what the read of ended sessions and the age of a rotation need: the database's clock. */
function isReadingOfTheClock([filter]: unknown[]): boolean {
  return (filter as { _id?: unknown } | undefined)?._id === 'clock'
}

const VERBS: Readonly<Record<string, string>> = {
  find: 'select',
  findOne: 'select',
  insertOne: 'insert',
  updateOne: 'update',
  deleteOne: 'delete',
  deleteMany: 'delete',
}

/** The database with every operation of its collections counted as one statement. */
function interrupted(db: Db, interruptions: Interruptions): Db {
  const watched = (collection: Collection): Collection =>
    new Proxy(collection, {
      get: (target, name) => {
        const member: unknown = Reflect.get(target, name, target)
        if (typeof member !== 'function') return member
        return (...args: unknown[]) => {
          const run = () => member.apply(target, args)
          // Statements of the start do not belong to a request.
          if (name === 'listIndexes') return run()
          if (isReadingOfTheClock(args)) return run()
          if (isRegularRead(target, args)) {
            interruptions.passBeside()
            return run()
          }
          const verb = VERBS[String(name)] ?? ''
          const counted = async (operation: () => Promise<unknown>) => {
            const statement = statementOf(verb, target.collectionName)
            await interruptions.pass(statement)
            const result = await operation()
            await interruptions.passed(statement)
            return result
          }
          // A cursor asks the server only when it is read.
          return name === 'find' ? { toArray: () => counted(() => run().toArray()) } : counted(run)
        }
      },
    })
  return new Proxy(db, {
    get: (target, name) =>
      name === 'collection'
        ? (...args: Parameters<Db['collection']>) => watched(target.collection(...args))
        : Reflect.get(target, name, target),
  })
}
