import { expect } from 'chai'
import type { Db } from 'mongodb'
import { DataSource, type MigrationInterface, type QueryRunner } from 'typeorm'
import { auth } from '@mortar/auth'
import {
  documentAuth,
  ensureAuthIndexes,
  type ConnectedPasswordProvider,
  type DocumentAuthOptions,
} from '@mortar/auth-document'
import { database } from '@mortar/database'
import { createApp, type AppOptions } from 'mortar'
import { createClient } from 'mortar/testing'
import { newDatabaseName, onEachMongo, openDatabase } from '../../../support/mongo.ts'
import { ADA, CHEAP, SECRET } from '../support/world.ts'
import { failureOf } from '../support/failure-of.ts'

const COLLECTIONS = ['auth_users', 'auth_refresh_tokens', 'auth_reset_tokens']
const PRODUCTION = { environment: 'production', appUrl: 'https://a.example' } as const

function appWith(options: Partial<DocumentAuthOptions>, more: AppOptions = {}) {
  const cost = more.environment === 'production' ? {} : CHEAP
  const provider = documentAuth({ secret: SECRET, cost, sendResetEmail: () => {}, ...options })
  return createApp({ environment: 'test', logger: false, ...more }).use(auth(provider))
}

async function startAndStop(options: Partial<DocumentAuthOptions>, more?: AppOptions): Promise<void> {
  const app = appWith(options, more)
  await app.ready().finally(() => app.close())
}

async function uniqueKeys(db: Db): Promise<string[]> {
  const found: string[] = []
  for (const name of COLLECTIONS)
    for (const { key, unique } of await db.collection(name).indexes())
      if (unique) found.push(`${name}.${Object.keys(key).join()}`)
  return found
}

const UNIQUE = ['auth_users.email', 'auth_refresh_tokens.family_hash']

onEachMongo('setting up documentAuth', (server) => {
  const inDatabase = async (body: (db: Db) => Promise<unknown>) => {
    const { db, close } = await openDatabase(server())
    await body(db).finally(close)
  }

  it('makes its indexes at the start, outside production', () =>
    inDatabase(async (db) => {
      await startAndStop({ db })
      expect(await uniqueKeys(db)).to.deep.equal(UNIQUE)
    }))

  it('fails in production where a unique index is missing, and names it and the remedy', () =>
    inDatabase(async (db) => {
      const error = await failureOf(() => startAndStop({ db }, PRODUCTION))
      expect(error.code).to.equal('MORTAR_AUTH_INDEX')
      expect(error.message).to.include('auth_users (email) and auth_refresh_tokens (family_hash)')
      expect(error.message).to.include('ensureAuthIndexes')
      expect((await db.listCollections().toArray()).length).to.equal(0)
    }))

  it('starts in production once ensureAuthIndexes has run, or with createIndexes', () =>
    inDatabase(async (db) => {
      await ensureAuthIndexes(db)
      await startAndStop({ db }, PRODUCTION)
      await db.dropDatabase()
      await startAndStop({ db, createIndexes: true }, PRODUCTION)
      expect(await uniqueKeys(db)).to.deep.equal(UNIQUE)
    }))

  it('shows a field that is null as null, and one that a user does not have with its first value', () =>
    inDatabase(async (db) => {
      const app = appWith({ db, userFields: { plan: 'trial', since: 2030 }, limits: false })
      const client = createClient(app)
      const { id } = (await client.post('/auth/signup', ADA)).body.user
      const shown = async () => {
        const { body } = await client.post('/auth/login', ADA)
        const { raw } = (await client.withToken(body.accessToken).get('/auth/me')).body
        return [raw.plan, raw.since]
      }
      expect(await shown()).to.deep.equal(['trial', 2030])
      const changes = { $set: { plan: null }, $unset: { since: '' } } as const
      await db
        .collection<{ _id: string; plan: string | null; since?: number }>('auth_users')
        .updateOne({ _id: id }, changes)
      expect(await shown()).to.deep.equal([null, 2030])
      const { authProvider } = app.services as unknown as { authProvider: ConnectedPasswordProvider }
      const user = { ...ADA, email: 'bob@example.com', fields: { plan: undefined, since: null } }
      expect((await authProvider.createUser(user)).raw).to.include({ plan: 'trial', since: null })
      await app.close()
    }))

  it('starts in production with indexes that a migration of the database brick has made', async () => {
    class AddAuthIndexes1700000000000 implements MigrationInterface {
      readonly name = 'AddAuthIndexes1700000000000'
      up({ dataSource }: QueryRunner): Promise<void> {
        return ensureAuthIndexes(dataSource)
      }
      async down(): Promise<void> {}
    }
    const options = { type: 'mongodb', url: server().url, database: newDatabaseName() } as const
    const open = () => new DataSource({ ...options, migrations: [AddAuthIndexes1700000000000] })
    for (let deployment = 0; deployment < 2; deployment++) {
      const app = appWith({}, PRODUCTION).use(database(open(), { migrate: true }))
      await app.ready()
      const { db } = app.services as { db: DataSource }
      expect(await db.showMigrations()).to.equal(false)
      if (deployment === 1) await (app.services as { db: DataSource }).db.dropDatabase()
      await app.close()
    }
  })

  it('creates the indexes in several processes concurrently, and again', () =>
    inDatabase(async (db) => {
      await Promise.all(Array.from({ length: 8 }, () => ensureAuthIndexes(db)))
      await ensureAuthIndexes(db)
      expect((await db.collection('auth_refresh_tokens').indexes()).length).to.equal(4)
    }))

  it("is content with an application's own unique index, but not with a partial one", () =>
    inDatabase(async (db) => {
      await ensureAuthIndexes(db)
      const users = db.collection('auth_users')
      await users.dropIndex('auth_users_email')
      await users.createIndexes([{ key: { email: 1 }, unique: true, name: 'mine' }])
      await startAndStop({ db }, PRODUCTION)
      await users.dropIndex('mine')
      const partial = { partialFilterExpression: { name: { $exists: true } } }
      await users.createIndexes([{ key: { email: 1 }, unique: true, name: 'some', ...partial }])
      expect((await failureOf(() => startAndStop({ db }, PRODUCTION))).code).to.equal('MORTAR_AUTH_INDEX')
    }))

  it('says that an address is there twice, without showing it', () =>
    inDatabase(async (db) => {
      await db.collection('auth_users').insertMany([{ email: ADA.email }, { email: ADA.email }])
      const error = await failureOf(() => startAndStop({ db }))
      expect(error.code).to.equal('MORTAR_AUTH_INDEX')
      expect(error.message).to.include('duplicates').and.to.not.include(ADA.email)
    }))

  it('takes the DataSource of the database brick by default', async () => {
    const source = new DataSource({ type: 'mongodb', url: server().url, database: newDatabaseName() })
    const app = appWith({}).use(database(source))
    try {
      const client = createClient(app)
      const { status, body } = await client.post('/auth/signup', ADA)
      expect(status).to.equal(201)
      expect((await client.withToken(body.accessToken).get('/auth/me')).body.email).to.equal(ADA.email)
      await source.dropDatabase()
    } finally {
      await app.close()
    }
  })

  it('takes the connection that the database brick makes from options', async () => {
    const options = { type: 'mongodb', url: server().url, database: newDatabaseName() } as const
    const app = appWith({}).use(database(options))
    try {
      expect((await createClient(app).post('/auth/signup', ADA)).status).to.equal(201)
      await (app.services as { db: DataSource }).db.dropDatabase()
    } finally {
      await app.close()
    }
  })

  it('takes a function of the services', () =>
    inDatabase(async (db) => {
      await startAndStop({ db: () => db })
      expect(await uniqueKeys(db)).to.deep.equal(UNIQUE)
    }))

  it('takes text only where text is meant', () =>
    inDatabase(async (db) => {
      const app = appWith({ db })
      const client = createClient(app)
      await client.post('/auth/signup', ADA)
      for (const email of [{ $gt: '' }, { $ne: null }, [ADA.email]]) {
        expect((await client.post('/auth/login', { email, password: ADA.password })).status).to.equal(422)
        expect((await client.post('/auth/forgot-password', { email })).status).to.equal(422)
      }
      const token = { $gt: '' }
      const reset = await client.post('/auth/reset-password', { token, password: ADA.password })
      expect(reset.status).to.equal(422)
      await app.close()
    }))
})

describe('setting up documentAuth', () => {
  it('fails for a database that it does not support', async () => {
    const relational = new DataSource({ type: 'better-sqlite3', database: ':memory:' })
    for (const db of [relational, undefined, {}, () => undefined]) {
      const error = await failureOf(() => startAndStop({ db: db as never }))
      expect(error.code, String(db)).to.equal('MORTAR_AUTH_DATABASE')
    }
    const error = await failureOf(() => startAndStop({ db: relational }))
    expect(error.message).to.include("'better-sqlite3'").and.to.include('basicAuth')
  })

  it('fails for a DataSource that nobody connects', async () => {
    const db = new DataSource({ type: 'mongodb', url: 'mongodb://127.0.0.1:1' })
    const error = await failureOf(() => startAndStop({ db }))
    expect(error.message).to.include('not connected')
  })

  it("fails for a field that is the framework's, or no plain name", () => {
    for (const name of ['email', '_id', 'password_hash', 'a.b', '$set']) {
      const options = { secret: SECRET, userFields: { [name]: null } }
      expect(() => documentAuth(options)).to.throw('userFields')
    }
  })

  it('fails without a secret', async () => {
    expect((await failureOf(() => documentAuth({} as never))).message).to.include('AUTH_SECRET')
    expect((await failureOf(() => documentAuth(undefined as never))).message).to.include('AUTH_SECRET')
  })
})
