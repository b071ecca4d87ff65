import { randomBytes } from 'node:crypto'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { MongoClient, type Db } from 'mongodb'
import { startMongoServer, type MongoServer } from './mongo-server/server.ts'

/** A server that the tests of the document database run against. */
export interface MongoTarget {
  /** Part of the suite names, so that a report names the target. */
  readonly name: string
  start(): Promise<MongoServer>
  /** Starts it for clients that need no address: the stand-in on a socket of the file system. */
  startBeside(): Promise<MongoServer>
}

const REAL_URL = process.env['TEST_MONGODB_URL']

const STAND_IN: MongoTarget = {
  name: 'a stand-in for MongoDB in this process',
  start: () => startMongoServer(),
  startBeside: () => startMongoServer(join(tmpdir(), `${newDatabaseName()}.sock`)),
}
const startReal = async () => ({ url: REAL_URL!, close: async () => {} })
const REAL: MongoTarget = {
  name: 'the server of TEST_MONGODB_URL',
  start: startReal,
  startBeside: startReal,
}

/** Always the stand-in, and the server of `TEST_MONGODB_URL` if it is set. */
export const MONGO_TARGETS: readonly MongoTarget[] = REAL_URL ? [STAND_IN, REAL] : [STAND_IN]

/** A database of a test's own. */
export interface OpenDatabase {
  readonly name: string
  readonly db: Db
  /** Closes the connection, and drops the database unless it is another test's to drop. */
  close(drop?: boolean): Promise<void>
}

/** Connects to a database that is empty, or to the one with that name. */
export async function openDatabase({ url }: MongoServer, name = newDatabaseName()): Promise<OpenDatabase> {
  const client = await new MongoClient(url, { serverSelectionTimeoutMS: 5000 }).connect()
  const db = client.db(name)
  const close = async (drop = true) => {
    if (drop) await db.dropDatabase()
    await client.close()
  }
  return { name, db, close }
}

/** A name that no other test has. */
export function newDatabaseName(): string {
  return `mortar_test_${process.pid}_${randomBytes(4).toString('hex')}`
}

/** Calls the body of a `describe` for each target, while the server runs. The report names the target. */
export function onEachMongo(title: string, body: (server: () => MongoServer) => void): void {
  for (const target of MONGO_TARGETS)
    describe(`${title}, on ${target.name}`, () => {
      let server: MongoServer
      before(async () => {
        server = await target.start()
        process.stdout.write(`    (${await describeServer(server)})\n`)
      })
      after(() => server.close())
      body(() => server)
    })
}

async function describeServer(server: MongoServer): Promise<string> {
  const { db, close } = await openDatabase(server)
  const { version, standIn } = await db.command({ buildInfo: 1 })
  await close()
  return standIn ? 'not a MongoDB, but a stand-in that speaks its protocol' : `MongoDB ${version}`
}
