import { PassThrough } from 'node:stream'
import { setTimeout as pause } from 'node:timers/promises'
import { expect } from 'chai'
import { DataSource } from 'typeorm'
import { createResetMail } from '../../../plugins/auth/flows/reset-mail.ts'
import { auth } from '@mortar/auth'
import { basicAuth } from '@mortar/auth/basic'
import * as schema from '@mortar/auth/basic/schema'
import { authUsers } from '@mortar/auth/basic/schema'
import { createApp, defineBrick, value, type Logger, type Mailer, type MailMessage } from 'mortar'
import { mail } from '@mortar/mail'
import { mailbox, tokenIn } from 'mortar/testing'
import { KINDS } from '../database/databases.ts'
import { Client } from './support/client.ts'
import { ADA, CHEAP, eventually, inWorld, SECRET, settle, signedUp } from './support/world.ts'
import { failureOf } from './support/failure-of.ts'

const scheme = { name: 'key', scheme: { type: 'http', scheme: 'bearer' } }
const nobody = () => null

function recorder() {
  const lines: string[] = []
  const write = (first: unknown, second?: unknown) => void lines.push(JSON.stringify([first, second]))
  const logger: Logger = { debug: write, info: write, warn: write, error: write, child: () => logger }
  return { logger, lines }
}

describe('setting up basicAuth', () => {
  it('fails without a secret, and names AUTH_SECRET', async () => {
    for (const options of [{}, { secret: '' }, { secret: [] }, undefined]) {
      const error = await failureOf(() => basicAuth(options as never))
      expect(error.message).to.include('AUTH_SECRET')
    }
  })

  it('warns of a short secret, and fails with it in production', async () => {
    const { logger, lines } = recorder()
    await inWorld({ auth: { secret: 'short' }, app: { logger } }, async () => {})
    expect(lines.join()).to.include('AUTH_SECRET')
    const app = { environment: 'production' as const, appUrl: 'https://a.example' }
    const error = await failureOf(() => inWorld({ auth: { secret: 'short' }, app }, async () => {}))
    expect(error.code).to.equal('MORTAR_AUTH_SECRET')
  })

  it('fails for lifetimes that cannot be', async () => {
    for (const options of [
      { accessTokenLifetime: '0s' },
      { refreshGrace: '2m' },
      { resetTokenLifetime: 'soon' },
    ])
      expect((await failureOf(() => basicAuth({ secret: SECRET, ...options }))).code).to.equal(
        'MORTAR_AUTH_OPTION',
      )
  })

  it('fails for a trusted origin that no page can have', async () => {
    for (const origin of [
      'null',
      '*',
      '',
      'app.example.com',
      'mailto:ada@example.com',
      'https://*.example.com',
    ]) {
      const error = await failureOf(() => auth(basicAuth({ secret: SECRET }), { trustedOrigins: [origin] }))
      expect([error.code, error.message].join()).to.match(/^MORTAR_AUTH_OPTION.*trustedOrigins/)
    }
  })

  it('fails for an invalid size of the token cache', async () => {
    for (const accessTokenCache of [-1, 1.5, Number.NaN, Infinity, '10' as never]) {
      const error = await failureOf(() => basicAuth({ secret: SECRET, accessTokenCache }))
      expect([error.code, error.message].join()).to.match(/^MORTAR_AUTH_OPTION.*accessTokenCache/)
    }
  })

  it('refuses an empty issuer or audience, which applications with one secret would share', async () => {
    for (const option of ['issuer', 'audience'])
      expect((await failureOf(() => basicAuth({ secret: SECRET, [option]: '' }))).code).to.equal(
        'MORTAR_AUTH_OPTION',
      )
  })

  it('fails for an invalid cookie name, and for an appUrl that is not an address', async () => {
    for (const cookieName of ['', 'a b', 'a=b', 'a;b', 'a\r\nb', 'ä'])
      expect((await failureOf(() => basicAuth({ secret: SECRET, cookieName }))).code).to.equal(
        'MORTAR_AUTH_OPTION',
      )
    for (const appUrl of ['', 'notes.example.com', 'ftp://notes.example.com', 'javascript:alert(1)']) {
      const error = await failureOf(() => basicAuth({ secret: SECRET, appUrl }))
      expect([error.code, error.message]).to.satisfy(
        ([code, message]: string[]) => code === 'MORTAR_AUTH_OPTION' && message!.includes('appUrl'),
      )
    }
  })

  it('refuses a cookie name with a prefix, which browsers drop over http, and the names of its other cookies', async () => {
    for (const cookieName of [
      '__Host-own',
      '__secure-own',
      '__Http-own',
      'mortar_device',
      'mortar_social_x',
    ]) {
      const error = await failureOf(() => basicAuth({ secret: SECRET, cookieName }))
      expect([error.code, error.message].join(), cookieName).to.match(/^MORTAR_AUTH_OPTION.*cookieName/)
    }
  })

  it('fails in production when reset links would have no address to begin with', async () => {
    const app = { environment: 'production' as const }
    const error = await failureOf(() =>
      inWorld({ app, withoutSendResetEmail: true, auth: { cost: {} } }, async () => {}),
    )
    expect(error.code).to.equal('MORTAR_AUTH_APP_URL')
  })

  it('fails without a database, and says where one comes from', async () => {
    const app = createApp({ environment: 'test', logger: false }).use(auth(basicAuth({ secret: SECRET })))
    const error = await failureOf(() => app.ready())
    expect(error.code).to.equal('MORTAR_AUTH_DATABASE')
    expect(error.message).to.match(/database\(.*db/s)
  })

  it('says of a DataSource that nobody connected what it is', async () => {
    const db = new DataSource({ type: 'better-sqlite3', database: ':memory:' })
    const app = createApp({ environment: 'test', logger: false }).use(auth(basicAuth({ db, secret: SECRET })))
    const error = await failureOf(() => app.ready())
    expect(error.code).to.equal('MORTAR_AUTH_DATABASE')
    expect(error.message).to.include('not connected').and.to.include('database(dataSource)')
    await app.close()
  })

  it('warns in production when no reset mail can be sent, and shows no link in the log', async () => {
    const { logger, lines } = recorder()
    const app = { environment: 'production' as const, appUrl: 'https://a.example', logger }
    const options = { app, withoutSendResetEmail: true, auth: { cost: {} } }
    await inWorld(options, async (world) => {
      expect(lines.join()).to.include('sendResetEmail')
      await signedUp(world)
      await world.client().post('/auth/forgot-password', { email: ADA.email })
      await settle(world)
      expect(world.typesOf()).to.include('auth.password.reset.mail.failed')
    })
    expect(lines.join()).to.not.include('token=')
  })

  it('does not let an application replace a column of the framework', () => {
    expect(() => authUsers({ email: { type: String } })).to.throw(TypeError, "'email'")
  })

  it('mounts its endpoints under another prefix', () =>
    inWorld({ brick: { prefix: '/api/account' } }, async (world) => {
      expect((await world.client().post('/api/account/signup', ADA)).status).to.equal(201)
      expect((await world.client().post('/auth/signup', ADA)).status).to.equal(404)
    }))

  it('describes its sign-in in the OpenAPI document, by operations that are there', () =>
    inWorld({ app: { openapi: {} } }, async (world) => {
      const { body } = await world.client().get('/openapi.json')
      const { accessToken, ...others } = body.components.securitySchemes
      expect(others).to.deep.equal({})
      const paths = Object.values<Record<string, { operationId: string }>>(body.paths)
      const known = paths.flatMap((path) => Object.values(path).map(({ operationId }) => operationId))
      expect(known).to.include.members(Object.values(accessToken['x-sign-in'].operations))
    }))

  it('has exactly eight endpoints, each described', () =>
    inWorld({}, async ({ app }) => {
      const routes = app.routes.filter(({ path }) => path.startsWith('/auth'))
      expect(routes.map(({ method, path }) => `${method} ${path}`)).to.have.members([
        'POST /auth/signup',
        'POST /auth/login',
        'POST /auth/refresh',
        'POST /auth/logout',
        'GET /auth/me',
        'POST /auth/change-password',
        'POST /auth/forgot-password',
        'POST /auth/reset-password',
      ])
      for (const { definition } of routes) {
        expect(definition.tags).to.deep.equal(['auth'])
        expect(definition).to.include.keys('summary', 'operationId', 'response')
      }
    }))
})

describe('tables that are missing', () => {
  it('are named with the remedy, at signup and at login', () =>
    inWorld({ withoutTables: true }, async ({ client }) => {
      for (const path of ['signup', 'login']) {
        const answer = await client().post(`/auth/${path}`, ADA)
        expect(answer.status).to.equal(500)
        expect(answer.body.code).to.equal('missing_table')
        expect(answer.body.detail).to.match(/^no such table: auth_users\b/)
        expect(answer.body.detail).to.include('@mortar/auth/basic/schema').and.to.include('migrat')
        expect(answer.headers['cache-control']).to.equal('no-store')
      }
    }))

  it('are named in the log alone in production', async () => {
    const { logger, lines } = recorder()
    const app = { environment: 'production' as const, appUrl: 'https://a.example', logger }
    await inWorld({ withoutTables: true, app, auth: { cost: {} } }, async ({ client }) => {
      const answer = await client().post('/auth/signup', ADA)
      expect(answer.body.code).to.equal('missing_table')
      expect(answer.text).to.not.include('auth_users')
    })
    expect(lines.join()).to.include('no such table: auth_users')
  })
})

describe('tables that a migration makes while the application runs', () => {
  const place = KINDS['SQLite']!()

  it('tell it of the sessions that another process ends', async () => {
    const { logger, lines } = recorder()
    const source = await place().open(schema)
    const start = async (db: DataSource) => {
      const app = createApp({ environment: 'test', logger }).use(
        auth(basicAuth({ db, secret: SECRET, cost: CHEAP, limits: false, sendResetEmail: () => {} })),
      )
      await app.ready()
      return app
    }
    const early = await start(source)
    expect(lines.join()).to.include('no such table: auth_ended_sessions')
    await source.synchronize()
    const late = await start(await place().open(schema))
    const client = new Client(early)
    expect((await client.post('/auth/signup', ADA)).status).to.equal(201)
    expect((await client.get('/auth/me')).status).to.equal(200)
    await client.copy(late).post('/auth/logout')
    const deadline = performance.now() + 60_000
    while ((await client.get('/auth/me')).status === 200 && performance.now() < deadline) await pause(20)
    expect((await client.get('/auth/me')).status).to.equal(401)
    await Promise.all([early.close(), late.close()])
  })
})

describe('the way of a reset link', () => {
  const mailBrick = (sent: MailMessage[]) => {
    const mailer: Mailer = { send: async (message) => ({ id: String(sent.push(message)) }) }
    return defineBrick({ name: 'mail', services: { mailer: value(mailer) } })
  }
  const ask = { email: ADA.email }

  it('is the mailer, with a link to the configured address and never to the Host header', async () => {
    const sent: MailMessage[] = []
    const options = {
      withoutSendResetEmail: true,
      bricks: [mailBrick(sent)],
      app: { appUrl: 'https://app.example.com' },
    }
    await inWorld(options, async (world) => {
      await signedUp(world)
      await world.client().post('/auth/forgot-password', ask, { host: 'evil.example' })
      await eventually(() => sent.length === 1)
    })
    expect(sent[0]!.to).to.deep.equal(['ada@example.com'])
    const link = /https:\/\/app\.example\.com\/reset-password\?token=[\w-]{43}/
    expect(sent[0]!.text).to.match(link)
    expect(sent[0]!.html).to.match(link)
    expect(JSON.stringify(sent)).to.not.include('evil')
  })

  it('has one slash behind the configured address, however many that ends with', async () => {
    for (const slashes of ['', '/', '//']) {
      const sent: MailMessage[] = []
      const options = { appUrl: `https://app.example.com/a${slashes}` }
      await inWorld(
        { withoutSendResetEmail: true, bricks: [mailBrick(sent)], auth: options },
        async (world) => {
          await signedUp(world)
          await world.client().post('/auth/forgot-password', ask)
          await eventually(() => sent.length === 1)
        },
      )
      expect(sent[0]!.text).to.contain('https://app.example.com/a/reset-password?token=')
    }
  })

  it('keeps an ampersand of the configured address, in the HTML as a character reference', async () => {
    const sent: MailMessage[] = []
    const app = { appUrl: 'https://app.example.com/a&lt;b' }
    await inWorld({ withoutSendResetEmail: true, bricks: [mailBrick(sent)], app }, async (world) => {
      await signedUp(world)
      await world.client().post('/auth/forgot-password', ask)
      await eventually(() => sent.length === 1)
    })
    expect(sent[0]!.text).to.contain('https://app.example.com/a&lt;b/reset-password?token=')
    expect(sent[0]!.html).to.contain('href="https://app.example.com/a&amp;lt;b/reset-password?token=')
  })

  it('has no markup of a configured address in its HTML', async () => {
    const sent: MailMessage[] = []
    const app = { appUrl: 'https://app.example.com/"><b>' }
    await inWorld({ withoutSendResetEmail: true, bricks: [mailBrick(sent)], app }, async (world) => {
      await signedUp(world)
      await world.client().post('/auth/forgot-password', ask)
      await eventually(() => sent.length === 1)
    })
    expect(sent[0]!.html).to.contain('href="https://app.example.com/&quot;>&lt;b>/reset-password?token=')
  })

  it('says in both texts for how long the link works', async () => {
    for (const [resetToken, words] of [
      [1800, '30 minutes'],
      [60, '1 minute'],
      [7200, '2 hours'],
      [5400, '90 minutes'],
      [90, '90 seconds'],
    ] as const) {
      const sent: MailMessage[] = []
      const mailer: Mailer = { send: async (message) => ({ id: String(sent.push(message)) }) }
      const services = { mailer, environment: 'test' } as never
      await createResetMail({}, { resetToken }, services).send(ADA.email, 'token')
      for (const text of [sent[0]!.text, sent[0]!.html])
        expect(text).to.contain(`The link works once, for ${words}. If it was not you`)
    }
  })

  it('is the mail brick, whose page shows a message with a token that works', () =>
    inWorld(
      { withoutSendResetEmail: true, bricks: [mail({ from: 'a@example.com', output: new PassThrough() })] },
      async (world) => {
        await signedUp(world)
        await world.client().post('/auth/forgot-password', ask)
        const token = tokenIn(await mailbox(world.app).waitFor(ADA.email))
        const answer = await world.client().post('/auth/reset-password', { token, password: 'another horse' })
        expect(answer.status).to.equal(200)
      },
    ))

  it('is the log when there is neither a mailer nor sendResetEmail', async () => {
    const { logger, lines } = recorder()
    const app = { environment: 'development' as const, logger, signals: false }
    await inWorld({ withoutSendResetEmail: true, app }, async (world) => {
      await signedUp(world)
      await world.client().post('/auth/forgot-password', ask)
      await eventually(() => lines.join().includes('/reset-password?token='))
      expect(lines.filter((line) => line.includes('/reset-password?token='))).to.have.length(1)
    })
  })
})

describe('the contract of a provider', () => {
  const wrong: [string, unknown, string][] = [
    ['nothing', undefined, 'undefined'],
    ['no name', { identify: nobody, securityScheme: scheme }, 'name'],
    ['no identify', { name: 'mine', securityScheme: scheme }, 'identify'],
    ['no security scheme', { name: 'mine', identify: nobody }, 'securityScheme'],
    [
      'routes that are declared only',
      { name: 'mine', identify: nobody, securityScheme: scheme, capabilities: { routes: true } },
      'routes',
    ],
  ]
  for (const [what, provider, missing] of wrong)
    it(`is refused with ${what}`, async () => {
      const error = await failureOf(() => auth(provider as never))
      expect(error.code).to.equal('MORTAR_AUTH_PROVIDER')
      expect(error.message).to.include(missing)
    })

  it('is refused at the start for a signOut that is declared only', async () => {
    const provider = {
      name: 'mine',
      identify: nobody,
      securityScheme: scheme,
      capabilities: { signOut: true },
    }
    const app = createApp({ environment: 'test' }).use(auth(provider))
    expect((await failureOf(() => app.ready())).message)
      .to.include("'mine'")
      .and.to.include('signOut')
  })

  it('is refused with a policy that is not a function', async () => {
    const provider = { name: 'mine', identify: nobody, securityScheme: scheme }
    const error = await failureOf(() => auth(provider, { policies: { admin: true as never } }))
    expect(error.code).to.equal('MORTAR_AUTH_POLICY')
  })

  it('is small: a name, a scheme and identify make a provider', async () => {
    const identify = ({ token }: { token: string }) =>
      token === 'open sesame' ? { id: 'ali', raw: {} } : null
    const app = createApp({ environment: 'test' }).use(
      auth({ name: 'mine', identify, securityScheme: scheme }),
    )
    const { authenticator } = (await app.ready()).services
    const request = { method: 'GET', path: '/', headers: {}, ip: '::1', signal: AbortSignal.abort() }
    const ask = (token: string) => authenticator.identify({ token, source: 'header' }, request)
    expect([ask('open sesame'), ask('x')]).to.deep.equal([{ id: 'ali', raw: {} }, null])
    await app.close()
  })
})
