import { randomBytes } from 'node:crypto'
import { setTimeout as wait } from 'node:timers/promises'
import { expect } from 'chai'
import { createApp, routerFor } from 'mortar'
import { createClient } from 'mortar/testing'
import { auth } from '@mortar/auth'
import { account } from '@mortar/auth/account'
import { audit } from '@mortar/auth/audit'
import { basicAuth, type ConnectedPasswordProvider } from '@mortar/auth/basic'
import * as authTables from '@mortar/auth/basic/schema'
import { AuthAudit } from '@mortar/auth/audit/schema'
import { AuthChallenges } from '@mortar/auth/challenges/schema'
import { AuthDeletions } from '@mortar/auth/account/schema'
import { AuthKnownBrowsers } from '@mortar/auth/notices/schema'
import { AuthRecoveryCodes, AuthSessionMethods, AuthTotp } from '@mortar/auth/totp/schema'
import { AuthSessionDetails } from '@mortar/auth/sessions/schema'
import { emailVerification } from '@mortar/auth/email-verification'
import { notices } from '@mortar/auth/notices'
import { recent } from '@mortar/auth/recent'
import { sessions } from '@mortar/auth/sessions'
import { totp } from '@mortar/auth/totp'
import { createDataSource, database } from '@mortar/database'
import { jobs, type Jobs, type ListedJob } from '@mortar/jobs'
import * as jobTables from '@mortar/jobs/schema'
import { limits } from '@mortar/limits'
import * as limitTables from '@mortar/limits/schema'
import { mail } from '@mortar/mail'
import { webhooks } from '@mortar/webhooks'
import * as webhookTables from '@mortar/webhooks/schema'
import { DIRECTORY } from './jobs/applications.ts'
import recordJob, { record } from './jobs/jobs/record.ts'
import { invoicePaid, LOCAL } from './webhooks/events.ts'
import { startReceiver } from './webhooks/receiver.ts'

const ADA = { name: 'Ada', email: 'ada@example.com', password: 'a long password of Ada' }
const OTHER = 'another password of Ada'

/** A look whether a table or column exists. */
const EMPTY = / LIMIT [01]$| where 1 = 0$/

async function signIn(app: Parameters<typeof createClient>[0]): Promise<void> {
  const client = createClient(app)
  expect((await client.post('/auth/signup', ADA)).status).to.equal(201)
  await client.post('/auth/login', { ...ADA, password: 'wrong' })
  const { body } = await client.post('/auth/login', ADA)
  const user = client.withToken(body.accessToken)
  for (const path of ['/auth/me', '/auth/sessions', '/auth/account/export', '/limited']) await user.get(path)
  await client.post('/auth/refresh')
  await client.post('/auth/forgot-password', ADA)
  await user.post('/auth/change-password', { oldPassword: ADA.password, newPassword: OTHER })
  await user.post('/auth/logout')
}

async function work({ add, counts, list, remove, retry }: Jobs): Promise<void> {
  record.length = 0
  await add(recordJob, { text: 'one', failures: 0 }, { key: 'k' })
  while (record.length === 0) await wait(5)
  await add(recordJob, { text: 'later', failures: 0 }, { after: '1h' })
  const [{ id }] = (await list({ name: 'record' })) as readonly [ListedJob]
  await retry(id)
  await remove(id)
  await counts()
}

describe('The statements of the bricks', () => {
  it('read no whole table', async () => {
    const statements = new Set<string>()
    const ofFeatures = { AuthAudit, AuthChallenges, AuthDeletions, AuthKnownBrowsers, AuthRecoveryCodes }
    const ofSessions = { AuthSessionDetails, AuthSessionMethods, AuthTotp }
    const tables = [authTables, ofFeatures, ofSessions, jobTables, limitTables, webhookTables]
    const source = createDataSource({
      type: 'better-sqlite3',
      database: ':memory:',
      entities: tables,
      verbose: (sql: string) => void statements.add(sql),
    })
    const features = [recent(), sessions(), notices(), emailVerification(), totp(), audit(), account()]
    const secret = randomBytes(32).toString('base64url')
    const app = createApp({ environment: 'development', signals: false, logRequests: false, logger: false })
      .use(database(source))
      .use(limits({ store: 'database' }))
      .use(mail({ transport: 'memory', from: 'notes@example.com' }))
      .use(auth(basicAuth({ secret, features, appUrl: 'https://notes.example.com' })))
      .use(jobs({ directory: DIRECTORY }))
      .use(webhooks({ events: [invoicePaid], ...LOCAL }))
    app.use(
      routerFor<typeof app>().get('/limited', { limit: { limit: 1, window: '1m', by: 'ip' } }, () => 'in'),
    )
    await source.initialize()
    await source.synchronize()
    statements.clear()
    await app.ready()
    await signIn(app)
    await work(app.services.jobs)
    const receiver = await startReceiver()
    const endpoints = app.services.webhooks.endpointsOf('ada')
    await endpoints.add({ url: receiver.url })
    await app.services.webhooks.send(invoicePaid, { invoice: '1' }, { owner: 'ada' })
    await endpoints.list()
    const { authProvider } = app.services as unknown as { authProvider: ConnectedPasswordProvider }
    await authProvider.accounts!.prune()
    const found = new Set<string>()
    for (const sql of [...statements].filter((each) =>
      /^(?:with|select|update|delete)\b/i.test(each.trim()),
    )) {
      const plan: readonly { readonly detail: string }[] = await source.query(`explain query plan ${sql}`)
      if (!EMPTY.test(sql) && plan.some(({ detail }) => /^SCAN (?:auth|mortar)_/.test(detail))) found.add(sql)
    }
    await app.close()
    await receiver.close()
    expect(statements.size).to.be.above(150)
    expect([...found]).to.deep.equal([])
  })
})
