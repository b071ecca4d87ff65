import { expect } from 'chai'
import { DataSource } from 'typeorm'
import { deleteExpiredEnds } from '../../../../plugins/auth-document/ended-sessions.ts'
import { documentRecords } from '../../../../plugins/auth-document/records.ts'
import { createDocumentStore } from '../../../../plugins/auth-document/store.ts'
import { ensureAuthIndexes, type UserFields } from '@mortar/auth-document'
import type { AuthStore } from '@mortar/auth'
import { authStoreSuite } from '@mortar/auth/testing'
import type { MongoServer } from '../../../support/mongo-server/server.ts'
import { newDatabaseName, onEachMongo, openDatabase } from '../../../support/mongo.ts'

/** Ends the sessions of a user's first password, as the flows do. */
const endSessions = async (store: AuthStore, userId: string): Promise<void> => {
  await store.publishEndedOf(userId, 0, 9)
  await store.deleteEndedSessions(userId)
}

const ADA = { id: 'ada', name: 'Ada', email: 'ada@example.com', passwordHash: 'h', now: 0 }

async function openWithDriver(server: MongoServer) {
  const { db, close } = await openDatabase(server)
  await ensureAuthIndexes(db)
  return { store: createDocumentStore(() => db), close: () => close() }
}

async function openWithTypeorm({ url }: MongoServer, entityPrefix?: string) {
  const options = { type: 'mongodb', url, database: newDatabaseName() } as const
  const source = new DataSource({ ...options, ...(entityPrefix !== undefined && { entityPrefix }) })
  await source.initialize()
  await ensureAuthIndexes(source)
  const close = async () => {
    await source.dropDatabase()
    await source.destroy()
  }
  return { store: createDocumentStore(() => source), close, source }
}

onEachMongo('the store on a document database', (server) => {
  authStoreSuite({ describe, it }, "the driver's Db", () => openWithDriver(server()))
  authStoreSuite({ describe, it }, 'a DataSource of TypeORM', () => openWithTypeorm(server()))
  authStoreSuite({ describe, it }, 'a DataSource with a prefix of names', () =>
    openWithTypeorm(server(), 'app_'),
  )

  const withStore = async (
    body: (store: AuthStore, db: Awaited<ReturnType<typeof openDatabase>>['db']) => Promise<void>,
    fields: UserFields = {},
  ) => {
    const { db, close } = await openDatabase(server())
    await ensureAuthIndexes(db)
    await body(
      createDocumentStore(() => db, { fields }),
      db,
    ).finally(close)
  }

  it('finds no record without a value by `noneOf`, as in SQL', async () => {
    const { db, close } = await openDatabase(server())
    const records = documentRecords(() => db, { name: 'auth_records', key: ['id', 9] }, 9000)
    for (const key of ['old', 'new', null]) await records.insert({ id: String(key), key_id: key })
    const found = await records.find({ key_id: { noneOf: ['new'] } })
    await close()
    expect(found.map(({ id }) => id)).to.deep.equal(['old'])
  })

  it('uses the database and the prefix of the DataSource', async () => {
    const { store, source, close } = await openWithTypeorm(server(), 'app_')
    await store.insertUser(ADA)
    const { db, close: leave } = await openDatabase(server(), String(source.options.database))
    expect(await db.collection('app_auth_users').countDocuments()).to.equal(1)
    await leave(false)
    await close()
  })

  it('does not widen a look-up in a collection that ignores case', () =>
    withStore(async (store, db) => {
      await db.dropCollection('auth_users')
      await db.createCollection('auth_users', { collation: { locale: 'en', strength: 1 } })
      await store.insertUser({ ...ADA, email: 'jose@example.com' })
      expect(await store.findUserByEmail('josé@example.com')).to.equal(null)
    }))

  it('takes no operator for an address, an id or a token', () =>
    withStore(async (store) => {
      await store.insertUser(ADA)
      await store.insertResetToken(
        { tokenHash: 't', userId: 'ada', passwordVersion: 0, createdAt: 0, expiresAt: 9 },
        3,
      )
      const anything = { $gt: '' } as unknown as string
      const found = [
        await store.findUserByEmail(anything),
        await store.findUserById(anything),
        await store.findResetToken(anything, 0),
      ]
      expect(found).to.deep.equal([null, null, null])
    }))

  it("shows an application's own fields, as JSON, and no others that are stored there", () =>
    withStore(
      async (store, db) => {
        expect((await store.insertUser(ADA))?.raw).to.include({ role: 'user', since: null })
        const own = { since: new Date(0), squad: null, totp_secret: 'x' }
        await db.collection('auth_users').updateOne({ email: ADA.email }, { $set: own, $unset: { team: '' } })
        const user = await store.findUserById('ada')
        expect(user?.raw).to.include({
          role: 'user',
          since: '1970-01-01T00:00:00.000Z',
          team: 'a',
          squad: null,
        })
        expect(user?.raw).to.not.have.any.keys('_id', 'totp_secret', 'password_hash')
      },
      { role: 'user', since: null, team: 'a', squad: 'b' },
    ))

  it('stores the value for a new user in place of a field that a signup leaves undefined', () =>
    withStore(
      async (store) => {
        await store.insertUser({ ...ADA, fields: { role: undefined, team: 'b' } })
        expect((await store.findUserById('ada'))?.raw).to.include({ role: 'user', team: 'b' })
      },
      { role: 'user', team: 'a' },
    ))

  it('keeps no more reset tokens of one moment than of several', () =>
    withStore(async (store, db) => {
      await store.insertUser(ADA)
      const token = { userId: 'ada', passwordVersion: 0, createdAt: 0, expiresAt: 9 }
      for (const tokenHash of ['b', 'd', 'a', 'c']) await store.insertResetToken({ ...token, tokenHash }, 2)
      const left = await db.collection('auth_reset_tokens').find().toArray()
      expect(left.map(({ _id }) => String(_id)).toSorted()).to.deep.equal(['c', 'd'])
    }))

  it('deletes more expired ends of sessions than one look-up returns', () =>
    withStore(async (store, db) => {
      const ended = db.collection<{ _id: string; expires_at: number }>('auth_ended_sessions')
      await ended.insertMany(Array.from({ length: 1001 }, (_, n) => ({ _id: `ended-${n}`, expires_at: 1 })))
      expect(await store.deleteExpired(1)).to.deep.equal({ sessions: 0, resetTokens: 0, endedSessions: 1001 })
    }))

  it('names a field that a document of another program lacks', () =>
    withStore(async (store, db) => {
      const { id: _id, name, email } = ADA
      await db.collection<{ _id: string }>('auth_users').insertOne({ _id, name, email } as never)
      const error = await store.findUserById(_id).catch((reason: unknown) => reason)
      expect((error as Error).message).to.include('password_version')
    }))

  it('leaves a session that begins while the password changes neither way round', () =>
    withStore(async (store, db) => {
      for (let round = 0; round < 20; round++) {
        const user = (await store.insertUser({ ...ADA, id: `u${round}`, email: `u${round}@example.com` }))!
        const session = { id: `s${round}`, userId: user.id, passwordVersion: 0, familyHash: `f${round}` }
        const rest = { tokenHash: 't', previousHash: null, createdAt: 0, rotatedAt: 0, expiresAt: 9 }
        const change = { userId: user.id, passwordHash: 'new', keptSession: null, now: 1 }
        const [inserted] = await Promise.all([
          store.insertSession({ ...session, ...rest }),
          store.setPassword(change).then(() => endSessions(store, user.id)),
        ])
        const left = await db.collection('auth_refresh_tokens').countDocuments({ user_id: user.id })
        if (!inserted) expect(left).to.equal(0)
        await endSessions(store, user.id)
        expect(await store.findSession(session.familyHash)).to.equal(null)
      }
    }))

  it('keeps no session of a user who was disabled', () =>
    withStore(async (store) => {
      await store.insertUser(ADA)
      const session = { id: 's', userId: 'ada', passwordVersion: 0, familyHash: 'f', tokenHash: 't' }
      await store.insertSession({ ...session, previousHash: null, createdAt: 0, rotatedAt: 0, expiresAt: 9 })
      await store.setPassword({ userId: 'ada', passwordHash: 'h', keptSession: 's', now: 1 })
      expect(await store.findSession('f')).to.include({ id: 's' })
      for (const isDisabled of [true, false]) await store.setDisabled('ada', isDisabled, 2)
      await endSessions(store, 'ada')
      expect(await store.findSession('f')).to.equal(null)
    }))

  it('spares the session of a password that is newer still', () =>
    withStore(async (store, db) => {
      await store.insertUser(ADA)
      const change = { userId: 'ada', passwordHash: 'h', keptSession: null, now: 1 }
      const newest = { id: 's', userId: 'ada', passwordVersion: 2, familyHash: 'f', tokenHash: 't' }
      const rest = { previousHash: null, createdAt: 0, rotatedAt: 0, expiresAt: 9 }
      await store.setPassword(change)
      let meanwhile: (() => Promise<boolean>) | undefined = async () => {
        await store.setPassword(change)
        return store.insertSession({ ...newest, ...rest })
      }
      const late = createDocumentStore(() => ({
        collection: (name, options) => {
          const collection = db.collection(name, options)
          if (name !== 'auth_refresh_tokens') return collection
          const find = async (filter: object) => {
            if (meanwhile) expect(await meanwhile()).to.equal(true)
            meanwhile = undefined
            return collection.find(filter).toArray()
          }
          return new Proxy(collection, {
            get: (target, key) =>
              key === 'find'
                ? (filter: object) => ({ toArray: () => find(filter) })
                : Reflect.get(target, key, target),
          })
        },
      }))
      expect(await late.findEndedSessions('ada')).to.deep.equal([])
      await late.deleteEndedSessions('ada')
      expect(await store.findSession('f')).to.include({ id: 's' })
    }))

  it('says no more than the driver did when an operation fails, and never what was stored', () =>
    withStore(async (store) => {
      const session = {
        id: 's',
        userId: 'ada',
        passwordVersion: 0,
        familyHash: 'f',
        tokenHash: 'secret-hash',
      }
      const rest = { previousHash: null, createdAt: 0, rotatedAt: 0, expiresAt: 9 }
      await store.insertUser(ADA)
      await store.insertSession({ ...session, ...rest })
      const error = await store
        .insertSession({ ...session, ...rest, id: 'other' })
        .catch((reason: unknown) => reason)
      expect((error as Error).message)
        .to.match(/^MongoServerError: .*duplicate key/i)
        .and.not.include('secret-hash')
      expect((error as { code?: unknown }).code).to.equal(11_000)
      expect(Object.keys(error as object)).to.deep.equal(['code'])
    }))
})

describe('the clean-up of a document database', () => {
  it('keeps the record of an end that is published again meanwhile', async () => {
    const ends = new Map([
      ['over', 1],
      ['again', 1],
    ])
    const ended = {
      find: () => ({ toArray: async () => [...ends.keys()].map((id) => ({ _id: id })) }),
      async deleteMany({ expires_at: expiry }: { expires_at?: { $lte: number } }) {
        const over = [...ends].filter(([, until]) => until <= (expiry?.$lte ?? Infinity))
        for (const [id] of over) ends.delete(id)
        return { deletedCount: over.length }
      },
    }
    const run = async (name: string, act: (collection: unknown) => unknown) =>
      name === 'auth_ended_sessions' ? act(ended) : ends.set('again', 2)
    expect(await deleteExpiredEnds(run as never, 1)).to.equal(1)
    expect([...ends.keys()]).to.deep.equal(['again'])
  })
})
