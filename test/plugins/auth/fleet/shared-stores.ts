import { ensureAuthIndexes } from '@mortar/auth-document'
import { ticket } from '@mortar/auth/ticket'
import type { Db } from 'mongodb'
import type { DataSource } from 'typeorm'
import { startMongoServer, type MongoServer } from '../../../support/mongo-server/server.ts'
import { openDatabase, type OpenDatabase } from '../../../support/mongo.ts'
import { KINDS } from '../../database/databases.ts'
import { endingFeatures } from './ending-features.ts'
import { openFleet, startProcesses, type FleetOptions, type Processes } from './fleet.ts'

/** Look-ups and changes that a test makes behind the back of the processes. */
export interface Records {
  hasSession(id: string): Promise<boolean>
  /** Ids of the sessions of a user. */
  sessionsOf(userId: string): Promise<readonly string[]>
  deleteUser(id: string): Promise<unknown>
  /** Publishes the end of a session whose row stays. */
  publishEnd(sessionId: string): Promise<unknown>
}

/** Two processes on one store. */
export interface SharedStore {
  readonly fleet: Processes
  readonly records: Records
}

/** Starts two processes. */
type Open = (options?: FleetOptions) => Promise<SharedStore>

/**
 * The stores that several processes share, by name. Call one first in the body of a `describe`, and the function that
 * comes back in its `before`.
 */
export const SHARED_STORES: Readonly<Record<string, () => Open>> = {
  ...Object.fromEntries(Object.entries(KINDS).map(([name, kind]) => [name, () => relational(kind)])),
  'document (stand-in)': document,
}

function relational(kind: (typeof KINDS)[string]): Open {
  const place = kind('suite')
  return async (options) => {
    const fleet = await openFleet(place(), 2, options)
    return { fleet, records: recordsOfSource(fleet.source) }
  }
}

function recordsOfSource(source: DataSource): Records {
  const sessions = source.getRepository('auth_refresh_tokens')
  return {
    hasSession: (id) => sessions.existsBy({ id }),
    sessionsOf: async (userId) => (await sessions.findBy({ user_id: userId })).map(({ id }) => String(id)),
    deleteUser: (id) => source.getRepository('auth_users').delete({ id }),
    publishEnd: (id) =>
      source
        .getRepository('auth_ended_sessions')
        .insert({ id, ended_at: Date.now(), expires_at: Date.now() + 900_000 }),
  }
}

function document(): Open {
  let server: MongoServer
  let database: OpenDatabase
  before(async () => {
    server = await startMongoServer()
    database = await openDatabase(server)
  })
  after(async () => {
    await database.close()
    await server.close()
  })
  return async (options) => {
    await ensureAuthIndexes(database.db, [ticket(), ...endingFeatures(options?.most)])
    const place = { type: 'document', url: server.url, name: database.name } as const
    const fleet = await startProcesses(place, 2, options)
    return { fleet, records: recordsOfDb(database.db) }
  }
}

function recordsOfDb(db: Db): Records {
  const sessions = db.collection<{ _id: string }>('auth_refresh_tokens')
  const find = async (filter: object) => (await sessions.find(filter).toArray()).map(({ _id }) => _id)
  return {
    hasSession: async (id) => (await find({ _id: id })).length > 0,
    sessionsOf: (userId) => find({ user_id: userId }),
    deleteUser: (id) => db.collection<{ _id: string }>('auth_users').deleteOne({ _id: id }),
    publishEnd: (id) =>
      db
        .collection<{ _id: string }>('auth_ended_sessions')
        .updateOne(
          { _id: id },
          { $set: { expires_at: Date.now() + 900_000 }, $currentDate: { ended_at: true } },
          { upsert: true },
        ),
  }
}
