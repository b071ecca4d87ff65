import { expect } from 'chai'
import { translateDriverError } from '../../../../plugins/auth-document/driver-error.ts'
import { MongoClient, type Db, type Document } from 'mongodb'
import { auth } from '@mortar/auth'
import { documentAuth, type DocumentAuthOptions } from '@mortar/auth-document'
import type { ConnectedPasswordProvider } from '@mortar/auth/basic'
import { createApp, createRouter, type App } from 'mortar'
import { createClock } from 'mortar/testing'
import { DEADLOCK } from '../../../support/mongo-server/faults.ts'
import { startMongoServer, type StandIn } from '../../../support/mongo-server/server.ts'
import { Client } from '../support/client.ts'
import { ADA, CHEAP, eventually, PASSWORD, SECRET } from '../support/world.ts'

const NEXT = 'another horse battery'

describe('documentAuth on a server that fails', () => {
  let server: StandIn
  let client: MongoClient
  let db: Db
  let app: App
  const mails: string[] = []
  const warnings: unknown[][] = []

  const open = async (options: Partial<DocumentAuthOptions> = {}, query = '') => {
    // After a lost connection the driver waits for its next heartbeat, by default for half a second.
    client = new MongoClient(`${server.url}/accounts${query}`, { minHeartbeatFrequencyMS: 20 })
    db = client.db()
    app = createApp({ environment: 'test', logger: false, clock: createClock() })
      .use(
        auth(
          documentAuth({
            db,
            secret: SECRET,
            cost: CHEAP,
            limits: false,
            sendResetEmail: (_to, token) => void mails.push(token),
            ...options,
          }),
        ),
      )
      .use(createRouter().get('/private', { auth: true }, () => 'in'))
    await app.ready()
    const { logger } = app.services as unknown as { logger: { warn: (...args: unknown[]) => void } }
    // Warnings about clocks are left out: the application's does not move, and the server's goes on.
    logger.warn = (...args) => {
      if (!JSON.stringify(args).includes('clock')) warnings.push(args)
    }
    return new Client(app)
  }
  const signedUp = async (query = '') => {
    const user = await open({}, query)
    expect((await user.post('/auth/signup', ADA)).status).to.equal(201)
    await settled()
    return user
  }
  const settled = () =>
    (app.services as unknown as { authProvider: ConnectedPasswordProvider }).authProvider.flows.settled()

  beforeEach(async () => {
    server = await startMongoServer()
    warnings.length = 0
  })
  afterEach(async () => {
    server.faults.clear()
    await app.close()
    await client.close()
    await server.close()
  })

  it('ends many sessions of a user with one command before the new password, because that has a time limit', async () => {
    const user = await signedUp()
    for (let device = 0; device < 8; device++)
      expect((await new Client(app).post('/auth/login', ADA)).status).to.equal(200)
    const commands: Document[] = []
    server.faults.listener = (command) => {
      if (command['update'] === 'auth_users' || command['update'] === 'auth_ended_sessions')
        commands.push(command)
    }
    const change = { current: PASSWORD, next: NEXT }
    expect((await user.post('/auth/change-password', change)).status).to.equal(200)
    const [ends, password] = commands
    expect([ends!['update'], (ends!['updates'] as unknown[]).length]).to.deep.equal([
      'auth_ended_sessions',
      9,
    ])
    expect(password!['update']).to.equal('auth_users')
  })

  const unlucky = [
    ['a', 'lost command', 'auth_refresh_tokens', 1],
    ['a', 'lost reply', 'auth_reset_tokens', 1],
    ['a repeated', 'lost command', 'auth_reset_tokens', 2],
    ['a repeated', 'lost reply', 'auth_refresh_tokens', 2],
  ] as const
  for (const [count, fault, collection, times] of unlucky)
    it(`resets a password despite ${count} ${fault} in ${collection} by the clean-up, and ends the old session`, async () => {
      const user = await signedUp()
      await user.copy().post('/auth/forgot-password', { email: ADA.email })
      await eventually(() => mails.length > 0)
      // One collection only: a second lost connection would also end the repetition that waits for a new one.
      server.faults.plan('delete', fault, { collection, times, after: collection.includes('reset') ? 1 : 0 })
      const answer = await user.copy().post('/auth/reset-password', { token: mails.pop()!, password: NEXT })
      expect(answer.status, answer.text).to.equal(200)
      // On a busy machine the clean-up goes on after the response.
      await eventually(() => server.faults.left === 0 && (times === 1 || warnings.length > 0))
      expect((await user.get('/private')).status).to.equal(401)
      expect((await user.post('/auth/login', { ...ADA, password: NEXT })).status).to.equal(200)
      expect(warnings.length > 0).to.equal(times === 2)
    })

  it('repeats a failed clean-up with the next housekeeping', async () => {
    const user = await signedUp()
    await new Client(app).post('/auth/login', ADA)
    server.faults.plan('delete', 'lost command', { collection: 'auth_refresh_tokens', times: 2 })
    const changed = await user.post('/auth/change-password', { current: PASSWORD, next: NEXT })
    expect(changed.status).to.equal(200)
    const left = () => db.collection('auth_refresh_tokens').countDocuments({ password_version: 0 })
    expect(await left()).to.equal(2)
    expect(JSON.stringify(warnings)).to.include('connection').and.not.include(ADA.email)
    const { clock } = app.services as unknown as { clock: { advance(seconds: number): void } }
    clock.advance(3601)
    await new Client(app).post('/auth/login', { ...ADA, password: NEXT })
    await settled()
    expect(await left()).to.equal(0)
  })

  it('responds 503 with Retry-After while the server is silent, after the time limit', async () => {
    const user = await open({ operationTimeout: 1 })
    await user.post('/auth/signup', ADA)
    server.faults.isSilent = true
    const began = performance.now()
    const ask = async (path: string): Promise<void> => {
      const { status, headers, body } = await user.copy().post(path, ADA)
      expect([status, headers['retry-after']], path).to.deep.equal([503, '1'])
      expect(body.detail).to.equal('The database cannot be reached right now. Try again shortly.')
    }
    await Promise.all(['/auth/login', '/auth/refresh', '/auth/forgot-password'].map(ask))
    // A few times the time limit of one operation; the driver alone would wait for 30 seconds.
    expect(performance.now() - began).to.be.below(20_000)
    server.faults.isSilent = false
    expect((await user.post('/auth/login', ADA)).status).to.equal(200)
  })

  it('responds 503 while the server is gone', async () => {
    const user = await open({ operationTimeout: 1 })
    await user.post('/auth/signup', ADA)
    await server.close()
    const { status, headers } = await user.post('/auth/login', ADA)
    expect([status, headers['retry-after']]).to.deep.equal([503, '1'])
    server = await startMongoServer()
  })

  it("keeps the write concern's time limit and journal setting, and writes to the majority", async () => {
    const written: Document[] = []
    for (const [query, expected] of [
      ['', { w: 'majority', wtimeout: 10_000 }],
      ['?wtimeoutMS=5000&journal=true&w=1', { w: 'majority', wtimeout: 5000, j: true }],
    ] as const) {
      const user = await open({}, query)
      server.faults.listener = (command) => 'insert' in command && written.push(command['writeConcern'])
      await user.post('/auth/signup', { ...ADA, email: `ada${query.length}@example.com` })
      expect(written.splice(0)).to.deep.equal([expected, expected])
      server.faults.listener = undefined
      if (query === '') await app.close().then(() => client.close())
    }
  })

  it('answers 409 to the loser of a race that the server ends by a deadlock', async () => {
    const user = await signedUp()
    server.faults.plan('insert', DEADLOCK, { collection: 'auth_users' })
    expect((await user.copy().post('/auth/signup', ADA)).status).to.equal(409)
  })

  it('signs up after a deadlock that nobody has won, and gives up with 503 after three', async () => {
    const user = await open()
    server.faults.plan('insert', DEADLOCK, { collection: 'auth_users', times: 2 })
    expect((await user.post('/auth/signup', ADA)).status).to.equal(201)
    server.faults.plan('insert', DEADLOCK, { collection: 'auth_users', times: 3 })
    expect((await user.copy().post('/auth/signup', { ...ADA, email: 'bob@example.com' })).status).to.equal(
      503,
    )
  })

  const internal = (errmsg: string) => ({
    reply: { ok: 0, code: 1, codeName: 'InternalError', errmsg },
  })
  for (const errmsg of [
    'failed to connect to `user=ferret database=postgres`: 10.1.2.3:5432 (db): dial error: connection refused',
    'FATAL: terminating connection due to administrator command (SQLSTATE 57P01)',
    'FATAL: the database system is starting up (SQLSTATE 57P03)',
    'unexpected EOF',
  ])
    it(`responds 503 with Retry-After while the server's own database is away: ${errmsg}`, async () => {
      const user = await signedUp()
      for (const [path, command] of [
        ['/auth/login', 'find'],
        ['/auth/signup', 'insert'],
        ['/auth/refresh', 'find'],
      ] as const) {
        server.faults.plan(command, internal(errmsg))
        const { status, headers, text } = await user.copy().post(path, { ...ADA, email: 'bob@example.com' })
        expect([status, headers['retry-after']], `${path} ${text}`).to.deep.equal([503, '1'])
        server.faults.clear()
      }
    })

  it('responds 503 for an internal error in other words if a second read fails, otherwise 500', async () => {
    const user = await signedUp()
    for (const [times, expected] of [
      [2, 503],
      [1, 500],
    ] as const) {
      server.faults.plan('find', internal('something broke'), { collection: 'auth_users', times })
      expect((await user.copy().post('/auth/login', ADA)).status).to.equal(expected)
      server.faults.clear()
    }
  })

  for (const fault of ['lost command', 'lost reply'] as const) {
    it(`follows the stored password if change-password meets a ${fault} while its session begins`, async () => {
      const user = await signedUp()
      server.faults.plan('insert', fault, { collection: 'auth_refresh_tokens', times: 2 })
      const change = { current: PASSWORD, next: NEXT }
      const { status, headers, body } = await user.post('/auth/change-password', change)
      // After a lost reply the row is stored, so the session has begun.
      const expected = fault === 'lost reply' ? [200, undefined] : [401, 'password_changed']
      expect([status, body.code, headers['retry-after']]).to.deep.equal([...expected, undefined])
      expect((await new Client(app).post('/auth/login', ADA)).status).to.equal(401)
      expect((await user.post('/auth/login', { ...ADA, password: NEXT })).status).to.equal(200)
    })

    it(`begins the session of a changed password despite one ${fault}`, async () => {
      const user = await signedUp()
      server.faults.plan('insert', fault, { collection: 'auth_refresh_tokens' })
      const change = { current: PASSWORD, next: NEXT }
      expect((await user.post('/auth/change-password', change)).status).to.equal(200)
      expect((await user.get('/private')).status).to.equal(200)
    })

    it(`follows the stored password after a ${fault} of the new password, on change and reset`, async () => {
      const user = await signedUp()
      const isStored = fault === 'lost reply'
      server.faults.plan('update', fault, { collection: 'auth_users' })
      const change = { current: PASSWORD, next: NEXT }
      expect((await user.post('/auth/change-password', change)).status).to.equal(isStored ? 200 : 503)
      const password = isStored ? NEXT : PASSWORD
      expect((await user.copy().post('/auth/login', { ...ADA, password })).status).to.equal(200)
      await user.copy().post('/auth/forgot-password', { email: ADA.email })
      await eventually(() => mails.length > 0)
      server.faults.plan('update', fault, { collection: 'auth_users' })
      const reset = { token: mails.pop()!, password: 'a third horse battery' }
      expect((await user.copy().post('/auth/reset-password', reset)).status).to.equal(isStored ? 200 : 503)
      const last = isStored ? reset.password : password
      expect((await user.copy().post('/auth/login', { ...ADA, password: last })).status).to.equal(200)
    })
  }
})

describe('The message of an error of the driver', () => {
  for (const [given, kept] of [
    [
      'E11000 duplicate key error index: a dup key: { name: "Ada", n: 1 }',
      'E11000 duplicate key error index: a',
    ],
    ['duplicate key value: Key (shard, name)=(17, Ada) already exists', 'duplicate key value: Key (…)'],
    ['cannot connect to user=Ada database=notes', 'cannot connect to user=… database=…'],
    ['no mail for ada@example.com today', 'no mail for … today'],
  ] as const)
    it(`has none of its values: ${kept}`, () => {
      expect(translateDriverError(new Error(given)).message).to.equal(`Error: ${kept}`)
    })
})
