import { expect } from 'chai'
import { createApp, createRouter, type App } from 'mortar'
import { auth, type AuthProvider } from '@mortar/auth'
import { basicAuth } from '@mortar/auth/basic'
import * as authSchema from '@mortar/auth/basic/schema'
import { database } from '@mortar/database'
import { createClock, mailbox, tokenIn, createClient, signedIn } from 'mortar/testing'
import { mail } from '@mortar/mail'

const SECRET = 'a secret of a test, which is long enough'

const members = () =>
  createRouter()
    .get('/me', { auth: true }, (ctx) => ({
      id: ctx.user.id,
      email: ctx.user.email ?? null,
      raw: ctx.user.raw,
    }))
    .get('/staff', { auth: 'staff' }, () => 'welcome')

function appWith(clock = createClock(Date.UTC(2030, 0, 1))): App {
  const provider = basicAuth({ secret: SECRET, cost: { memory: 1024, passes: 1, parallelism: 1 } })
  return createApp({ environment: 'test', clock, appUrl: 'http://localhost' })
    .use(database({ type: 'better-sqlite3', database: ':memory:', entities: authSchema, synchronize: true }))
    .use(mail({ from: 'a@example.com' }))
    .use(auth(provider, { policies: { staff: (user) => user.raw['role'] === 'staff' } }))
    .use(members())
}

describe('signedIn', () => {
  const apps: App[] = []
  const made = (app: App): App => {
    apps.push(app)
    return app
  }

  afterEach(async () => {
    for (const app of apps.splice(0)) await app.close()
  })

  it('returns a client of that user, boots the application and makes no account', async () => {
    const app = made(appWith())
    const ada = await signedIn(app, { id: 'ada', email: 'ada@example.com', raw: { role: 'guest' } })
    expect((await ada.get('/me')).body).to.deep.equal({
      id: 'ada',
      email: 'ada@example.com',
      raw: { id: 'ada', email: 'ada@example.com', role: 'guest' },
    })
    const login = await ada.post('/auth/login', { email: 'ada@example.com', password: 'whatever it is' })
    expect(login.status).to.equal(401)
  })

  it('passes the policies that its raw record satisfies', async () => {
    const app = made(appWith())
    const staff = await signedIn(app, { id: 's', raw: { role: 'staff' } })
    expect((await staff.get('/staff')).status).to.equal(200)
    const guest = await signedIn(app, { id: 'g' })
    expect((await guest.get('/staff')).status).to.equal(403)
  })

  it('accepts the options of a client', async () => {
    const app = made(appWith())
    const client = await signedIn(app, { id: 'x' }, { headers: { 'x-request-id': 'mine' } })
    expect((await client.get('/nowhere')).body.instance).to.equal('mine')
  })

  it('ends with its access token', async () => {
    const clock = createClock(Date.UTC(2030, 0, 1))
    const client = await signedIn(made(appWith(clock)), { id: 'x' })
    clock.advance('14m')
    expect((await client.get('/me')).status).to.equal(200)
    clock.advance('2m')
    expect((await client.get('/me')).status).to.equal(401)
  })

  it('throws when the provider issues no tokens, or when there is no provider', async () => {
    const foreign: AuthProvider = {
      name: 'foreign',
      securityScheme: { name: 'foreign', scheme: { type: 'http', scheme: 'bearer' } },
      identify: () => null,
    }
    for (const app of [
      createApp({ environment: 'test' }).use(auth(foreign)),
      createApp({ environment: 'test' }),
    ]) {
      const failure = await signedIn(made(app), { id: 'x' }).catch((error: Error) => error)
      expect(failure).to.be.instanceOf(Error).and.have.property('message').that.contains('issues tokens')
    }
  })
})

describe('The mailbox', () => {
  let app: App

  beforeEach(() => {
    app = appWith()
  })

  afterEach(() => app.close())

  it('returns the sent messages, newest first, and the newest to an address', async () => {
    await app.ready()
    const { mailer } = app.services as unknown as { mailer: { send(message: object): Promise<unknown> } }
    for (const [to, subject] of [
      ['a@example.com', 'one'],
      ['b@example.com', 'two'],
      ['a@example.com', 'three'],
    ])
      await mailer.send({ to, subject, text: 'text' })
    expect((await mailbox(app).all()).map(({ subject }) => subject)).to.deep.equal(['three', 'two', 'one'])
    expect((await mailbox(app).latest('a@example.com')).subject).to.equal('three')
    expect((await mailbox(app).waitFor('a@example.com', 'on')).subject).to.equal('one')
    const none = await mailbox(app)
      .latest('c@example.com')
      .catch((error: Error) => error.message)
    expect(none).to.equal('No mail to c@example.com was sent.')
    const late = await mailbox(app)
      .waitFor('c@example.com')
      .catch((error: Error) => error.message)
    expect(late).to.contain('within two seconds. With the brick jobs, run `testJobs(app).run()` before.')
  })

  it('waits for mail that is sent after the response, and finds the token of its link', async () => {
    const client = createClient(app)
    const email = 'ada@example.com'
    await client.post('/auth/signup', { name: 'Ada', email, password: 'correct horse battery' })
    await client.post('/auth/forgot-password', { email })
    const message = await mailbox(app).waitFor(email)
    const token = tokenIn(message)
    expect(
      (await client.post('/auth/reset-password', { token, password: 'a wholly new one' })).status,
    ).to.equal(200)
    expect(tokenIn({ text: 'Open https://example.com/x#token=ab.c-1.' })).to.equal('ab.c-1')
    expect(() => tokenIn({ text: 'no link' })).to.throw('no link with a token')
  })

  it('throws when the application has no mail page', async () => {
    const bare = createApp({ environment: 'test' })
    const failure = await mailbox(bare)
      .all()
      .catch((error: Error) => error.message)
    expect(failure).to.contain('no mail page')
    await bare.close()
  })
})
