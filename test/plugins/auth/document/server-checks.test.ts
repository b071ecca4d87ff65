import { createServer, type AddressInfo, type Server, type Socket } from 'node:net'
import { mock } from 'node:test'
import { expect } from 'chai'
import { MongoClient, type Db } from 'mongodb'
import { auth } from '@mortar/auth'
import { documentAuth, ensureAuthIndexes } from '@mortar/auth-document'
import { checkAuthIndexes } from '../../../../plugins/auth-document/indexes.ts'
import { documentFindings } from '../../../../plugins/auth-document/doctor.ts'
import { createApp } from 'mortar'
import { startMongoServer, type StandIn } from '../../../support/mongo-server/server.ts'
import { failureOf } from '../support/failure-of.ts'
import { ADA, CHEAP, SECRET } from '../support/world.ts'

/** A server on DocumentDB, whose updates match although the condition is no longer met. */
const NOT_ATOMIC = { reply: { ok: 1, n: 1, nModified: 1 } }
const FERRET = { reply: { ok: 1, version: '7.0.42', ferretdb: { version: 'v1.24.2' } } }

describe('The server of documentAuth', () => {
  let server: StandIn
  let client: MongoClient
  let db: Db
  const open = (options: object = {}) => {
    client = new MongoClient(`${server.url}/accounts`, options)
    db = client.db()
    return db
  }
  beforeEach(async () => {
    server = await startMongoServer()
    open()
  })
  afterEach(async () => {
    await client.close()
    await server.close()
  })

  const start = async (source: Db) => {
    const provider = documentAuth({ db: source, secret: SECRET, cost: CHEAP, sendResetEmail: () => {} })
    const app = createApp({ environment: 'test', logger: false }).use(auth(provider))
    await app.ready().finally(() => app.close())
  }
  const refusal = async (source: Db) => {
    const error = await failureOf(() => start(source))
    expect(error.code).to.equal('MORTAR_AUTH_UNREACHABLE')
    expect(error.message).to.include('replicaSet').and.include('TLS')
    return error.message
  }

  it('is named with the reason within five seconds if it is away or silent, without the password', async () => {
    const sockets: Socket[] = []
    const mute: Server = createServer((socket) => void sockets.push(socket))
    await new Promise<void>((resolve) => {
      mute.listen(0, '127.0.0.1', resolve)
    })
    const { port } = mute.address() as AddressInfo
    const clients = [1, port].map(
      (each) => new MongoClient(`mongodb://ada:secret-word@127.0.0.1:${each}/accounts`),
    )
    const [away, silent] = await Promise.all(clients.map((each) => refusal(each.db())))
    expect(away).to.include('127.0.0.1:1: connect ECONNREFUSED')
    expect(silent).to.include(`127.0.0.1:${port}: no response`)
    expect(`${away} ${silent}`).to.not.include('secret-word')
    for (const each of clients) await each.close()
    for (const socket of sockets) socket.destroy()
    mute.close()
  })

  it('is named if it does not belong to the replica set, or does not speak TLS', async () => {
    await client.close()
    open({ replicaSet: 'rs0', serverSelectionTimeoutMS: 500 })
    expect(await refusal(db)).to.include("replica set 'rs0'")
    await client.close()
    open({ tls: true, serverSelectionTimeoutMS: 500 })
    expect(await refusal(db)).to.include('127.0.0.1:')
  })

  it('is not asked through a driver that is too old, which is named with the remedy', async () => {
    const old = (metadata: unknown): Db =>
      new Proxy(db, {
        get: (target, name) =>
          name === 'client' ? { options: { metadata } } : Reflect.get(target, name, target),
      })
    for (const metadata of [
      { driver: { version: '6.22.0' } },
      Promise.resolve({ driver: { version: '5.9.2' } }),
    ]) {
      const error = await failureOf(() => start(old(metadata)))
      expect(error.code).to.equal('MORTAR_AUTH_DATABASE')
      expect(error.message)
        .to.match(/mongodb (6\.22\.0|5\.9\.2)/)
        .and.include('npm install mongodb@7')
    }
  })

  it('is examined by the doctor, which closes a client only if it has connected it', async () => {
    for (const isConnected of [false, true]) {
      await client.close()
      open()
      if (isConnected) await client.connect()
      const close = mock.method(client, 'close')
      await documentFindings(db)
      expect(close.mock.callCount()).to.equal(isConnected ? 0 : 1)
      close.mock.restore()
    }
  })

  it('is named if it demands other credentials', async () => {
    const errmsg = 'Command find requires authentication'
    server.faults.plan('find', { reply: { ok: 0, code: 13, codeName: 'Unauthorized', errmsg } })
    expect(await refusal(db)).to.include(errmsg)
  })

  it('is named without its internal text, which has the user and the address of its own database', async () => {
    const errmsg = 'failed to connect to `user=ferret database=postgres`: 10.1.2.3:5432: connection refused'
    server.faults.plan('find', { reply: { ok: 0, code: 1, codeName: 'InternalError', errmsg } }, { times: 9 })
    const message = await refusal(db)
    expect(message)
      .to.include('InternalError')
      .and.not.match(/ferret\b|10\.1\.2\.3|user=/)
  })

  it('is refused and named if its updates are not atomic, at the start, in production and by the doctor', async () => {
    await ensureAuthIndexes(db)
    for (const check of [ensureAuthIndexes, checkAuthIndexes]) {
      await client.close()
      open()
      server.faults.plan('update', NOT_ATOMIC, { times: 50 })
      server.faults.plan('buildInfo', FERRET)
      const error = await failureOf(() => check(db))
      expect(error.code).to.equal('MORTAR_AUTH_ATOMICITY')
      expect(error.message).to.include('FerretDB v1.24.2').and.include('50 of 50')
      server.faults.clear()
      await check(db)
    }
    await client.close()
    open()
    server.faults.plan('update', NOT_ATOMIC, { times: 50 })
    const [finding] = await documentFindings(db)
    expect(finding).to.include({ level: 'error', code: 'MORTAR_AUTH_ATOMICITY' })
    await client.close()
    expect(await documentFindings(open())).to.deep.equal([])
    open()
    expect(await db.collection('auth_ended_sessions').countDocuments()).to.equal(0)
  })

  for (const wording of ['MongoDB', 'DocumentDB'] as const)
    it(`reports duplicates in the words of ${wording}, and shows the address nowhere`, async () => {
      await db.collection('auth_users').insertMany([{ email: ADA.email }, { email: ADA.email }])
      server.faults.wording = wording
      const error = await failureOf(() => ensureAuthIndexes(db))
      expect(error.code).to.equal('MORTAR_AUTH_INDEX')
      expect(error.message).to.include('duplicates').and.include('Remove all but one')
      for (let each: unknown = error; each instanceof Error; each = each.cause)
        expect(`${each.stack} ${JSON.stringify(each)}`).to.not.include(ADA.email)
    })

  for (const [reason, options] of [
    ['has a collation', { collation: { locale: 'en', strength: 1 } }],
    ['is hidden', { hidden: true }],
    ['is partial', { partialFilterExpression: { name: { $exists: true } } }],
  ] as const)
    it(`counts no unique index that ${reason}`, async () => {
      await ensureAuthIndexes(db)
      const users = db.collection('auth_users')
      await users.dropIndex('auth_users_email')
      await users.createIndexes([{ key: { email: 1 }, unique: true, name: 'mine', ...options }])
      const error = await failureOf(() => checkAuthIndexes(db))
      expect(error.code).to.equal('MORTAR_AUTH_INDEX')
      expect(error.message).to.include(`(the index 'mine' ${reason})`)
    })

  for (const [what, options] of [
    ['a sparse unique index', { sparse: true }],
    ['a unique index with the collation that compares each byte', { collation: { locale: 'simple' } }],
  ] as const)
    it(`is content with ${what}`, async () => {
      await ensureAuthIndexes(db)
      const users = db.collection('auth_users')
      await users.dropIndex('auth_users_email')
      await users.createIndexes([{ key: { email: 1 }, unique: true, name: 'mine', ...options }])
      await checkAuthIndexes(db)
    })
})
