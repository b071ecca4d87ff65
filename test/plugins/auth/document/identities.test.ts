import { expect } from 'chai'
import { Long, ObjectId, UUID, type Db } from 'mongodb'
import { auth } from '@mortar/auth'
import { documentAuth } from '@mortar/auth-document'
import type { ConnectedPasswordProvider } from '@mortar/auth/basic'
import { createApp } from 'mortar'
import { onEachMongo, openDatabase } from '../../../support/mongo.ts'
import { Client } from '../support/client.ts'
import { ADA, CHEAP, eventually, PASSWORD, SECRET } from '../support/world.ts'

const NEXT = 'another horse battery'

onEachMongo('an account that another program has made', (server) => {
  /** Signs Ada up, and gives her document another identity. */
  const withIdentity = async (
    id: unknown,
    body: (parts: {
      client: Client
      db: Db
      mails: string[]
      provider: ConnectedPasswordProvider
    }) => Promise<void>,
  ) => {
    const { db, close } = await openDatabase(server())
    const mails: string[] = []
    const options = { secret: SECRET, cost: CHEAP, limits: false } as const
    const sendResetEmail = (_to: string, token: string) => void mails.push(token)
    const app = createApp({ environment: 'test', logger: false }).use(
      auth(documentAuth({ ...options, db, sendResetEmail })),
    )
    const client = new Client(app)
    try {
      await client.post('/auth/signup', ADA)
      const users = db.collection<{ _id: unknown }>('auth_users')
      const { _id, ...rest } = (await users.findOne({}))!
      await users.deleteOne({ _id })
      await users.insertOne({ _id: id, ...rest, password_version: Long.fromNumber(0) } as never)
      const provider = (app.services as unknown as { authProvider: ConnectedPasswordProvider }).authProvider
      await body({ client: new Client(app), db, mails, provider })
    } finally {
      await app.close()
      await close()
    }
  }

  it('signs in by an ObjectId, whose digits are the id of the user', () => {
    const id = new ObjectId()
    return withIdentity(id, async ({ client, mails, provider }) => {
      const login = await client.post('/auth/login', ADA)
      expect([login.status, login.body.user?.id]).to.deep.equal([200, id.toHexString()])
      expect((await client.get('/auth/me')).body.raw.id).to.equal(id.toHexString())
      expect((await client.post('/auth/refresh')).status).to.equal(200)
      const change = await client.post('/auth/change-password', { current: PASSWORD, next: NEXT })
      expect(change.status, change.text).to.equal(200)
      await client.post('/auth/forgot-password', { email: ADA.email })
      await eventually(() => mails.length > 0)
      const reset = await client.post('/auth/reset-password', { token: mails[0]!, password: PASSWORD })
      expect(reset.status, reset.text).to.equal(200)
      expect((await client.post('/auth/login', ADA)).status).to.equal(200)
      expect(await provider.disable(id.toHexString())).to.equal(true)
      expect((await client.post('/auth/login', ADA)).status).to.equal(401)
      expect(await provider.enable(id.toHexString())).to.equal(true)
      expect((await client.post('/auth/login', ADA)).status).to.equal(200)
      await provider.signOut(id.toHexString())
      expect((await client.get('/auth/me')).status).to.equal(401)
    })
  })

  it('signs in by text with the form of an ObjectId', () =>
    withIdentity('65f0aa0b0c0d0e0f10111213', async ({ client }) => {
      expect((await client.post('/auth/login', ADA)).status).to.equal(200)
      expect((await client.post('/auth/refresh')).status).to.equal(200)
    }))

  it('is refused if another account has the same digits', () =>
    withIdentity('65f0aa0b0c0d0e0f10111213', async ({ client, db }) => {
      const users = db.collection<{ _id: unknown }>('auth_users')
      const { _id, ...rest } = (await users.findOne({}))!
      await users.insertOne({ ...rest, _id: new ObjectId(String(_id)), email: 'eve@example.com' } as never)
      for (const email of [ADA.email, 'eve@example.com']) {
        const { status, text } = await client.post('/auth/login', { ...ADA, email })
        expect([status, text.includes('the same identity')]).to.deep.equal([500, true])
      }
    }))

  it('names an identity of another type, and spends no reset link', () =>
    withIdentity(new UUID(), async ({ client, mails }) => {
      const login = await client.post('/auth/login', ADA)
      expect(login.status).to.equal(500)
      expect(login.text).to.include('_id of the type').and.include('ObjectId')
      expect((await client.post('/auth/forgot-password', { email: ADA.email })).status).to.equal(200)
      expect(mails).to.deep.equal([])
    }))
})
