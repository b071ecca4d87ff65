import { mock } from 'node:test'
import { setTimeout as wait } from 'node:timers/promises'
import { expect } from 'chai'
import { createApp } from 'mortar'
import { createClient, mailbox, tokenIn } from 'mortar/testing'
import { auth, type AuthEvents } from '@mortar/auth'
import { basicAuth, type BasicAuthOptions } from '@mortar/auth/basic'
import * as authSchema from '@mortar/auth/basic/schema'
import { createDataSource, database } from '@mortar/database'
import { jobs } from '@mortar/jobs'
import * as jobsSchema from '@mortar/jobs/schema'
import { testJobs } from '@mortar/jobs/testing'
import { mail } from '@mortar/mail'
import { deferred } from '../../support/deferred.ts'
import { DIRECTORY, keptLog, winterClock } from './applications.ts'
import recordJob, { record } from './jobs/record.ts'

const ADA = { name: 'Ada', email: 'ada@example.com', password: 'correct horse 7' }
const MESSAGE = { to: 'bob@example.com', subject: 'Hello', text: 'Hello Bob' }

/** A message of nodemailer. */
interface MailData {
  readonly to: readonly { readonly address: string }[]
  readonly subject: string
  readonly text: string
  readonly messageId: string
}

/** A message that the mail server has accepted. */
interface Delivered {
  readonly to: string
  readonly subject: string
  readonly text: string
}

/** An application whose mail server is away while `server.isAway`. */
async function mailingApp(options: Partial<BasicAuthOptions> = {}) {
  const server = { isAway: false, isRefusing: false }
  const clock = winterClock()
  const { logger, lines } = keptLog()
  const delivered: Delivered[] = []
  const ids: string[] = []
  const db = createDataSource({
    type: 'better-sqlite3',
    database: ':memory:',
    entities: [authSchema, jobsSchema],
  })
  await db.initialize()
  await db.synchronize()
  const transport = {
    name: 'switch',
    version: '1',
    send({ data }: { data: MailData }, done: (error: Error | null, info?: unknown) => void) {
      ids.push(data.messageId)
      if (server.isRefusing) return done(Object.assign(new Error('550 no such user'), { permanent: true }))
      // Servers quote what they have received.
      if (server.isAway) return done(new Error(`connect ECONNREFUSED: ${data.text}`))
      const { to, subject, text } = data
      delivered.push({ to: to.map(({ address }) => address).join(), subject, text })
      done(null, {})
    },
  }
  const app = createApp({
    environment: 'test',
    logger,
    clock,
    signals: false,
    appUrl: 'http://localhost:3000',
  })
    .use(jobs({ directory: DIRECTORY }))
    .use(database(db))
    .use(mail({ from: 'app@example.com', transport }))
    .use(auth(basicAuth({ secret: 'not-so-secret-0123456789-abcdefghijk', ...options })))
  return { app, db, server, clock, lines, delivered, ids }
}

describe('mails with the jobs brick', () => {
  let scene: Awaited<ReturnType<typeof mailingApp>>
  beforeEach(async () => {
    scene = await mailingApp()
    await scene.app.ready()
  })
  afterEach(async () => {
    await scene.app.close()
    await scene.db.destroy()
  })
  const sent = async (): Promise<number> =>
    (await mailbox(scene.app).all()).filter((each) => (each as { status?: string }).status !== 'failed')
      .length

  it('send a reset mail while the mailbox of a test waits for it, and run no job of the application', async () => {
    const { app } = scene
    const client = createClient(app)
    await client.post('/auth/signup', ADA)
    await app.services.jobs.add(recordJob, { text: 'later', failures: 0 })
    await client.post('/auth/forgot-password', { email: ADA.email })
    expect(tokenIn(await mailbox(app).waitFor(ADA.email, 'Reset your password'))).to.be.a('string')
    expect(await testJobs(app).added(recordJob)).to.deep.equal([{ text: 'later', failures: 0 }])
  })

  it('are sent by a job, with their attachments as they were', async () => {
    const { app } = scene
    const content = Buffer.from([0, 255, 10])
    // The check accepts bytes of every kind.
    const bytes = new Uint8Array(content) as Buffer
    const attachments = [content, bytes].map((each) => ({ filename: 'a.bin', content: each }))
    await app.services.mailer.send({ ...MESSAGE, attachments })
    expect(app.services.mailOutbox.list()).to.deep.equal([])
    expect(await testJobs(app).run()).to.equal(1)
    const [message] = app.services.mailOutbox.list()
    expect(message).to.include({ subject: 'Hello', to: 'bob@example.com' })
    expect(message!.attachments.map((each) => each.content)).to.deep.equal([content, content])
  })

  it('have at most about 750 KB of attachments, unless they are sent now', async () => {
    const { mailer } = scene.app.services
    const withFile = (size: number) => ({
      ...MESSAGE,
      attachments: [{ filename: 'a.bin', content: Buffer.alloc(size) }],
    })
    await mailer.send(withFile(750_000))
    const error = await mailer.send(withFile(800_000)).catch((caught: unknown) => caught)
    expect(error).to.have.property('name', 'InvalidJobData')
    await mailer.send(withFile(800_000), { now: true })
    expect(await sent()).to.equal(1)
  })

  it('may have null for a part', async () => {
    const { app } = scene
    await app.services.mailer.send({ ...MESSAGE, html: null, attachments: null } as never)
    expect(await testJobs(app).run()).to.equal(1)
    expect(app.services.mailOutbox.list()).to.have.length(1)
  })

  it('have the same id when they are sent again', async () => {
    const { app, server, clock, ids } = scene
    server.isAway = true
    await app.services.mailer.send(MESSAGE)
    await testJobs(app)
      .run()
      .catch(() => undefined)
    server.isAway = false
    clock.advance('1m')
    expect(await testJobs(app).run()).to.equal(1)
    expect(ids).to.deep.equal([ids[0], ids[0]])
  })

  it('are sent with the commit of a transaction, and not after its rollback', async () => {
    const { app, db } = scene
    const { mailer } = app.services
    await db
      .transaction(async (tx) => {
        await mailer.send(MESSAGE, { tx })
        throw new Error('rollback')
      })
      .catch(() => undefined)
    expect(await testJobs(app).run()).to.equal(0)
    await db.transaction((tx) => mailer.send(MESSAGE, { tx }))
    expect(await testJobs(app).run()).to.equal(1)
    // Now is before the commit.
    const error = await db
      .transaction((tx) => mailer.send(MESSAGE, { tx, now: true }))
      .catch((caught: unknown) => caught)
    expect(error).to.have.property('code', 'MAIL_NO_QUEUE')
    expect(await sent()).to.equal(1)
  })

  it('are refused at the call if they are not valid, and fail for good if the server refuses them', async () => {
    const { app, server } = scene
    const { mailer, jobs: service } = app.services
    const error = await mailer
      .send({ to: 'nobody', subject: '', text: '' })
      .catch((caught: unknown) => caught)
    expect(error).to.have.property('code', 'MAIL_INVALID_MESSAGE')
    expect(await service.list()).to.deep.equal([])
    server.isRefusing = true
    await mailer.send(MESSAGE)
    const client = createClient(app)
    await client.post('/auth/signup', ADA)
    await client.post('/auth/forgot-password', { email: ADA.email })
    await testJobs(app)
      .run()
      .catch(() => undefined)
    const found = await service.list()
    expect(found.map(({ name }) => name)).to.have.members(['mail:send', 'auth:reset-mail'])
    for (const job of found) expect(job).to.include({ state: 'failed', attempt: 1 })
  })

  it('arrive after an hour without a mail server, and reset mails only with a link that works', async () => {
    const { app, server, clock, lines, db, delivered } = scene
    const client = createClient(app)
    const jobsOfApp = testJobs(app)
    const requests: unknown[] = []
    app.events.typed<AuthEvents>().on('auth.password.reset.requested', (event) => void requests.push(event))
    server.isAway = true
    for (let minute = 0; minute < 60; minute++) {
      await app.services.mailer.send({ ...MESSAGE, subject: `Minute ${minute}` })
      if (minute % 10 === 3) {
        const email = `ada${minute}@example.com`
        expect((await client.post('/auth/signup', { ...ADA, email })).status).to.equal(201)
        expect((await client.post('/auth/forgot-password', { email })).status).to.equal(200)
      }
      await jobsOfApp.run().catch(() => undefined)
      clock.advance('1m')
    }
    expect(delivered).to.deep.equal([])
    // One for each request, however often its mail was tried.
    expect(requests).to.have.lengthOf(6)
    expect(JSON.stringify([lines, await db.query('select * from mortar_jobs')])).to.not.match(
      /token=[\w-]{20}/,
    )
    server.isAway = false
    const statuses: number[] = []
    const isReset = ({ subject }: Delivered): boolean => subject === 'Reset your password'
    for (let minute = 60; minute < 125; minute++) {
      const before = delivered.length
      await jobsOfApp.run()
      for (const { text } of delivered.slice(before).filter(isReset)) {
        const token = tokenIn({ text })
        const { status } = await client.post('/auth/reset-password', { token, password: 'another horse 8' })
        statuses.push(status)
      }
      clock.advance('1m')
    }
    // A link lives for 30 minutes. That of minute 23 has expired before the server comes back.
    const resets = delivered.filter(isReset)
    expect(resets.map(({ to }) => to)).to.have.members([
      'ada33@example.com',
      'ada43@example.com',
      'ada53@example.com',
    ])
    expect(statuses).to.deep.equal([200, 200, 200])
    const subjects = delivered.filter((message) => !isReset(message)).map(({ subject }) => subject)
    expect(subjects).to.have.members(Array.from({ length: 60 }, (_, minute) => `Minute ${minute}`))
    expect(await app.services.jobs.list()).to.deep.equal([])
  })

  it('do not bring a reset link after its lifetime, and cost the same job without an account', async () => {
    const { app, clock } = scene
    const client = createClient(app)
    await client.post('/auth/signup', ADA)
    for (const email of [ADA.email, 'nobody@example.com'])
      await client.post('/auth/forgot-password', { email })
    expect(await app.services.jobs.list({ name: 'auth:reset-mail' })).to.have.lengthOf(2)
    clock.advance('30m')
    expect(await testJobs(app).run()).to.equal(2)
    expect(await sent()).to.equal(0)
    await client.post('/auth/forgot-password', { email: 'nobody@example.com' })
    expect(await testJobs(app).run()).to.equal(1)
    expect(await sent()).to.equal(0)
  })
})

describe('a reset mail whose link is valid for hours', () => {
  it('is tried with the jobs brick until its link has expired', async () => {
    const { app, db, server, clock, delivered } = await mailingApp({ resetTokenLifetime: '6h' })
    try {
      await app.ready()
      const client = createClient(app)
      await client.post('/auth/signup', ADA)
      server.isAway = true
      await client.post('/auth/forgot-password', { email: ADA.email })
      for (let minute = 0; minute < 330; minute++) {
        await testJobs(app)
          .run()
          .catch(() => undefined)
        clock.advance('1m')
      }
      server.isAway = false
      for (let minute = 0; minute < 5; minute++) {
        await testJobs(app).run()
        clock.advance('1m')
      }
      expect(delivered.map(({ subject }) => subject)).to.deep.equal(['Reset your password'])
    } finally {
      await app.close()
      await db.destroy()
    }
  })
})

describe('a mail whose transport may take ten minutes', () => {
  it('is sent once although it takes six', async () => {
    const asked = deferred<() => void>()
    let sent = 0
    const transport = {
      name: 'slow',
      version: '1',
      send(_message: unknown, done: (error: null, info: object) => void) {
        sent++
        asked.resolve(() => done(null, {}))
      },
    }
    const db = createDataSource({ type: 'better-sqlite3', database: ':memory:', entities: jobsSchema })
    await db.initialize()
    await db.synchronize()
    const app = await createApp({ environment: 'test', logger: false })
      .use(database(db))
      .use(jobs({ directory: DIRECTORY }))
      .use(mail({ from: 'app@example.com', transport, timeout: '10m' }))
      .ready()
    await app.services.mailer.send(MESSAGE)
    mock.timers.enable({ apis: ['setTimeout'] })
    try {
      const running = testJobs(app).run()
      const done = await asked.promise
      mock.timers.tick(360_000)
      done()
      await running
      expect([sent, await app.services.jobs.list()]).to.deep.equal([1, []])
    } finally {
      mock.timers.reset()
      await app.close()
      await db.destroy()
    }
  })
})

describe('a mail in a transaction without the jobs brick', () => {
  it('is refused', async () => {
    const app = createApp({ environment: 'test', logger: false }).use(
      mail({ from: 'a@example.com', transport: 'memory' }),
    )
    await app.ready()
    const error = await app.services.mailer.send(MESSAGE, { tx: {} }).catch((caught: unknown) => caught)
    expect(error).to.have.property('code', 'MAIL_NO_QUEUE')
    await app.close()
  })
})

describe('a mail server that does not respond', () => {
  it('leaves places to other jobs', async () => {
    record.length = 0
    const unanswered: (() => void)[] = []
    const transport = {
      name: 'silent',
      version: '1',
      send(_message: unknown, done: (error: null, info: object) => void) {
        unanswered.push(() => done(null, {}))
      },
    }
    const db = createDataSource({ type: 'better-sqlite3', database: ':memory:', entities: jobsSchema })
    await db.initialize()
    await db.synchronize()
    const app = await createApp({ environment: 'development', logger: false, signals: false })
      .use(database(db))
      .use(jobs({ directory: DIRECTORY }))
      .use(mail({ from: 'app@example.com', transport }))
      .ready()
    try {
      for (let count = 0; count < 4; count++) await app.services.mailer.send(MESSAGE)
      while (unanswered.length < 2) await wait(5)
      await app.services.jobs.add(recordJob, { text: 'runs', failures: 0 })
      while (record.length === 0) await wait(5)
      expect(unanswered.length).to.equal(2)
      for (let sent = 0; sent < 4; sent++) {
        while (unanswered.length <= sent) await wait(5)
        unanswered[sent]!()
      }
    } finally {
      await app.close()
      await db.destroy()
    }
  })
})
