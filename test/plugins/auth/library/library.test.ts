import { expect } from 'chai'
import { bearer } from 'better-auth/plugins'
import { Kysely } from 'kysely'
import { DataSource } from 'typeorm'
import { createApp, createRouter, type StartupError } from 'mortar'
import { auth, type AuthOptions } from '@mortar/auth'
import { libraryAuth, type AuthLibrary, type LibraryAuthOptions } from '@mortar/auth-library'
import { throughDataSource } from '@mortar/auth-library/kysely'
import { createClient } from 'mortar/testing'
import { deferred } from '../../../support/deferred.ts'
import { openBetterAuth } from '../support/better-auth.ts'
import { startupErrorOf } from '../../../support/startup-error-of.ts'

const ADA = { name: 'Ada', email: 'ada@example.com', password: 'correct horse battery' }
const ORIGIN = { headers: { origin: 'http://localhost' } }

interface WorldOptions {
  readonly better?: Parameters<typeof openBetterAuth>[0]
  readonly library?: LibraryAuthOptions
  readonly brick?: AuthOptions
  readonly app?: Parameters<typeof createApp>[0]
}

async function inLibraryWorld(
  { better, library, brick, app: more }: WorldOptions,
  body: (world: ReturnType<typeof openWorld>) => Promise<unknown>,
): Promise<void> {
  const world = openWorld({ better, library, brick, app: more } as WorldOptions)
  try {
    await body(world)
  } finally {
    await world.app.close()
    world.database.close()
  }
}

function openWorld({ better, library, brick, app: more }: WorldOptions) {
  const { instance, database, prepare } = openBetterAuth(better)
  const app = createApp({ environment: 'test', logger: false, signals: false, ...more })
    .use(auth(libraryAuth(instance, { prepare, ...library }), brick))
    .use(
      createRouter()
        .get('/private', { auth: true }, ({ user }) => user)
        .post('/private', { auth: true }, ({ body }) => body),
    )
  return { app, instance, database, client: createClient(app) }
}

describe('an application whose accounts better-auth keeps', () => {
  it('signs up, in and out through its handler; its cookie satisfies guards', () =>
    inLibraryWorld({}, async ({ client, database }) => {
      expect((await client.get('/private')).status).to.equal(401)
      const { status, body, headers } = await client.post('/api/auth/sign-up/email', ADA)
      expect([status, headers['cache-control']]).to.deep.equal([200, 'no-store'])

      const me = await client.get('/private')
      expect(me.body).to.deep.include({ id: body.user.id, name: 'Ada', emailVerified: false })
      expect(me.body).not.to.have.property('email')
      expect(me.body.raw).to.deep.include({ email: ADA.email, emailVerified: false, image: null })
      expect(database.prepare('select count(*) as n from user').get()).to.deep.equal({ n: 1 })

      expect((await client.post('/api/auth/sign-out', {}, ORIGIN)).status).to.equal(200)
      expect((await client.get('/private')).status).to.equal(401)
      const wrong = await client.post('/api/auth/sign-in/email', { ...ADA, password: 'wrong horse' })
      expect(wrong.status).to.equal(401)
      expect((await client.post('/api/auth/sign-in/email', ADA)).status).to.equal(200)
      expect((await client.get('/private')).body.id).to.equal(body.user.id)
      expect((await client.get('/api/auth/get-session')).body.user.id).to.equal(body.user.id)
    }))

  it('takes the value of its cookie as a bearer token, and with its bearer plugin what that gives out', () =>
    inLibraryWorld({ better: { plugins: [bearer()] } }, async ({ app, client }) => {
      const { body, headers } = await client.post('/api/auth/sign-up/email', ADA)
      const tokens = [
        decodeURIComponent(client.cookie('better-auth.session_token')!),
        String(headers['set-auth-token']),
        String(body.token),
      ]
      for (const token of tokens)
        expect((await createClient(app).withToken(token).get('/private')).body.id).to.equal(body.user.id)
      await inLibraryWorld({}, async (plain) => {
        const { body: answer } = await plain.client.post('/api/auth/sign-up/email', ADA)
        const other = createClient(plain.app)
        // Not signed: whoever reads the table of sessions could make it up.
        expect((await other.withToken(answer.token).get('/private')).status).to.equal(401)
      })
    }))

  it('ends its sessions with signOut', () =>
    inLibraryWorld({}, async ({ app, client }) => {
      const { body } = await client.post('/api/auth/sign-up/email', ADA)
      await app.services.authProvider.signOut!(body.user.id)
      expect((await client.get('/private')).status).to.equal(401)
    }))

  it('stops the start with a version whose sessions signOut could not end', async () => {
    for (const context of [{}, { internalAdapter: { deleteSessionsOf: async () => undefined } }]) {
      const $context = Promise.resolve(context)
      const later: AuthLibrary = {
        handler: async () => new Response(),
        api: { getSession: async () => null },
        $context,
      }
      const app = createApp({ environment: 'test', logger: false }).use(auth(libraryAuth(later)))
      const error = await startupErrorOf(() => app.ready())
      expect(error.code).to.equal('MORTAR_AUTH_PROVIDER')
      expect(error.message).to.match(/deleteUserSessions.*better-auth \d+\.\d+.*signOut/s)
    }
  })

  it('takes the session from the one credential that counts, and from no other part of the request', () =>
    inLibraryWorld({}, async ({ client }) => {
      await client.post('/api/auth/sign-up/email', ADA)
      expect((await client.get('/private')).status).to.equal(200)
      expect((await client.withToken('garbage').get('/private')).status).to.equal(401)
      const cookie = `access_token=garbage; better-auth.session_token=${client.cookie('better-auth.session_token')}`
      expect((await client.get('/private', { headers: { cookie } })).status).to.equal(401)
      for (const token of ['\u00e9', '%', '%E0%A4%A', 'a\tb', ' '])
        expect(
          (await client.get('/private', { query: { access_token: token }, headers: { cookie: '' } })).status,
        ).to.equal(401)
    }))

  it('answers under the base path of the instance, wherever that is', () =>
    inLibraryWorld({ better: { basePath: '/auth' } }, async ({ client, app }) => {
      expect((await client.post('/auth/sign-up/email', ADA)).status).to.equal(200)
      expect((await client.get('/private')).status).to.equal(200)
      expect((await client.get('/api/auth/ok')).status).to.equal(404)
      const { body } = await client.get('/openapi.json')
      expect(Object.keys(body.paths).filter((path) => path.includes('auth'))).to.deep.equal([])
      expect(app.routes.some(({ path }) => path === '/auth/*path')).to.equal(true)
    }))

  it('answers HEAD, hands on errors and redirects, and leaves unknown paths to it', () =>
    inLibraryWorld({}, async ({ client }) => {
      expect((await client.get('/api/auth/ok')).body).to.deep.equal({ ok: true })
      expect((await client.head('/api/auth/ok')).status).to.equal(200)
      expect((await client.get('/api/auth/nothing')).status).to.equal(404)
      expect((await client.get('/api/auth')).status).to.equal(404)
      expect((await client.post('/api/auth/sign-in/email', 'not json')).status).to.be.oneOf([400, 415])
      const elsewhere = { headers: { 'content-type': 'application/json' } }
      expect((await client.post('/api/auth/sign-in/email', '{', elsewhere)).status).to.equal(400)
      const evil = { headers: { origin: 'https://evil.example', 'sec-fetch-site': 'cross-site' } }
      await client.post('/api/auth/sign-up/email', ADA)
      expect((await client.post('/api/auth/sign-out', {}, evil)).status).to.equal(403)
      expect((await client.get('/private')).status).to.equal(200)
    }))

  it('takes no body above the limit', () =>
    inLibraryWorld({ library: { bodyLimit: '1kb' } }, async ({ client, app }) => {
      const { length } = JSON.stringify({ ...ADA, name: '' })
      const sized = (bytes: number) => ({ ...ADA, name: 'x'.repeat(bytes - length) })
      const { status, body } = await client.post('/api/auth/sign-up/email', sized(1025))
      expect([status, body.code]).to.deep.equal([413, 'payload_too_large'])
      const { url } = await app.listen(0, '127.0.0.1')
      const stream = ReadableStream.from(
        (function* () {
          for (let chunk = 0; chunk < 50; chunk++) yield Buffer.alloc(1024, ' ')
        })(),
      )
      const answer = await fetch(`${url}/api/auth/sign-up/email`, {
        method: 'POST',
        body: stream,
        duplex: 'half',
        headers: { 'content-type': 'application/json', connection: 'close' },
      }).then(
        ({ status: code }) => code,
        () => 413,
      )
      expect(answer).to.equal(413)
      expect((await client.post('/api/auth/sign-up/email', sized(1024))).status).to.equal(200)
    }))

  it('says that an address is proven when the library says true, and nothing else', async () => {
    let verified: unknown
    const spy: AuthLibrary = {
      handler: async () => new Response(),
      api: {
        getSession: async () => ({ user: { id: 'ada', email: ADA.email, emailVerified: verified } }),
      },
    }
    const app = createApp({ environment: 'test', logger: false })
      .use(auth(libraryAuth(spy, { signOut: false })))
      .use(createRouter().get('/who', { auth: true }, ({ user }) => user))
    const client = createClient(app).withToken('any')
    for (verified of [undefined, null, false, 'true', 'false', 1]) {
      const { body } = await client.get('/who')
      expect(body, String(verified)).not.to.have.property('email')
      expect(body.emailVerified, String(verified)).to.equal(false)
    }
    verified = true
    expect((await client.get('/who')).body).to.deep.include({ email: ADA.email, emailVerified: true })
    await app.close()
  })

  it('refuses a credential that the library refuses, and responds 503 while the library fails', async () => {
    let failure: unknown
    const spy: AuthLibrary = {
      handler: async () => new Response(),
      api: { getSession: () => Promise.reject(failure) },
    }
    const app = createApp({ environment: 'test', logger: false })
      .use(auth(libraryAuth(spy, { signOut: false })))
      .use(createRouter().get('/who', { auth: true }, ({ user }) => user))
    const client = createClient(app).withToken('any')
    const statuses = []
    for (failure of [{ statusCode: 401 }, { statusCode: 499 }, { statusCode: 500 }, new Error('away'), null])
      statuses.push((await client.get('/who')).status)
    expect(statuses).to.deep.equal([401, 401, 503, 503, 503])
    await app.close()
  })

  it('aborts the request of the library when its client leaves', async () => {
    const [begun, left] = [deferred(), deferred()]
    const spy: AuthLibrary = {
      async handler({ signal }) {
        signal.addEventListener('abort', () => left.resolve())
        begun.resolve()
        await left.promise
        return new Response()
      },
      api: { getSession: async () => null },
    }
    const app = createApp({ environment: 'test', logger: false }).use(
      auth(libraryAuth(spy, { signOut: false })),
    )
    const { url } = await app.listen(0, '127.0.0.1')
    const client = new AbortController()
    const response = fetch(`${url}/api/auth/any`, { signal: client.signal }).catch(({ name }) => name)
    await begun.promise
    client.abort()
    expect(await response).to.equal('AbortError')
    await left.promise
    await app.close()
  })

  it('serves every method, and counts its limits by the client address of the framework, not by headers of the client', async () => {
    const seen: Request[] = []
    const spy: AuthLibrary = {
      handler: async (request) => {
        seen.push(request)
        return Response.json({ url: request.url })
      },
      api: { getSession: async () => null },
    }
    const app = createApp({ environment: 'test', logger: false, appUrl: 'https://app.example.com' }).use(
      auth(libraryAuth(spy, { signOut: false })),
    )
    const client = createClient(app)
    const headers = {
      'x-forwarded-for': '6.6.6.6',
      'x-forwarded-host': 'evil.example',
      'x-forwarded-proto': 'gopher',
      forwarded: 'for=6.6.6.6',
      'x-kept': 'yes',
    }
    await client.post('/api/auth/any/thing?q=1', { a: 1 }, { headers })
    for (const method of ['put', 'patch', 'delete', 'get'] as const) await client[method]('/api/auth/any')
    expect(seen.map(({ method }) => method)).to.deep.equal(['POST', 'PUT', 'PATCH', 'DELETE', 'GET'])
    const [request] = seen
    expect(request!.url).to.equal('https://app.example.com/api/auth/any/thing?q=1')
    expect(request!.headers.get('x-forwarded-for')).to.equal('127.0.0.1')
    for (const name of ['x-forwarded-host', 'x-forwarded-proto', 'forwarded'])
      expect(request!.headers.get(name), name).to.equal(null)
    expect(request!.headers.get('x-kept')).to.equal('yes')
    expect(await request!.json()).to.deep.equal({ a: 1 })
    await app.close()
  })
})

describe('the set-up of libraryAuth', () => {
  async function failureOf(
    make: () => ReturnType<typeof libraryAuth>,
    brick?: AuthOptions,
  ): Promise<StartupError> {
    const app = createApp({ environment: 'test', logger: false, signals: false })
    try {
      await app.use(auth(make(), brick)).ready()
    } catch (error) {
      return error as StartupError
    } finally {
      await app.close()
    }
    throw new Error('It started.')
  }

  it('writes the SQL of its database', () => {
    for (const [kind, expected] of [
      ['better-sqlite3', 'sqlite'],
      ['postgres', 'postgres'],
      ['mysql', 'mysql'],
      ['mariadb', 'mysql'],
    ] as const)
      expect(throughDataSource({ options: { type: kind } } as DataSource).type).to.equal(expected)
  })

  it('hands the token of a cookie to the library as a cookie alone, and none that no header can have', async () => {
    const seen: (string | null)[][] = []
    const library: AuthLibrary = {
      handler: async () => new Response(),
      api: {
        async getSession({ headers }) {
          seen.push([headers.get('authorization'), headers.get('cookie')])
          return null
        },
      },
    }
    const app = createApp({ environment: 'test', logger: false })
      .use(auth(libraryAuth(library, { cookie: 'session', signOut: false })))
      .use(createRouter().get('/private', { auth: true }, () => 'welcome'))
    const client = createClient(app)
    await client.get('/private', { headers: { cookie: 'session=abc' } })
    await client.get('/private', { headers: { authorization: 'Bearer abc' } })
    expect((await client.get('/private?access_token=%E2%82%AC')).status).to.equal(401)
    await app.close()
    expect(seen).to.deep.equal([
      [null, 'session=abc'],
      ['Bearer abc', 'session=abc'],
    ])
  })

  it('is that of the library by default, also if its option is empty', () => {
    for (const options of [{}, { basePath: '' }, { baseURL: 'http://localhost' }]) {
      const library: AuthLibrary = {
        handler: async () => new Response(),
        api: { getSession: async () => null },
        options,
      }
      expect(libraryAuth(library)).to.have.property('basePath', '/api/auth')
    }
  })

  it('is refused naming both paths when the library answers elsewhere', async () => {
    const own = openBetterAuth({ basePath: '/accounts' })
    const address = openBetterAuth({ baseURL: 'http://localhost/accounts' })
    // Says its path only once it works.
    const { options: _, ...silent } = own.instance
    const cases = [
      await failureOf(() => libraryAuth(own.instance), { prefix: '/auth' }),
      await failureOf(() => libraryAuth(own.instance, { basePath: '/auth' })),
      await failureOf(() => libraryAuth(() => own.instance, { basePath: '/auth' })),
      await failureOf(() => libraryAuth(address.instance, { basePath: '/auth' })),
      await failureOf(() => libraryAuth(silent, { basePath: '/auth' })),
    ]
    for (const error of cases) {
      expect(error.message).to.contain("'/accounts").and.contain('/auth')
      expect(error.code).to.equal('MORTAR_AUTH_BASE_PATH')
    }
    own.database.close()
    address.database.close()
  })

  it('refuses an object that is not an auth library, or that cannot end sessions although it should', async () => {
    for (const wrong of [null, {}, { handler: () => {} }, { api: { getSession() {} } }])
      expect((await failureOf(() => libraryAuth(wrong as never))).code).to.equal('MORTAR_AUTH_PROVIDER')
    expect((await failureOf(() => libraryAuth(() => null as never))).code).to.equal('MORTAR_AUTH_PROVIDER')
    const plain: AuthLibrary = { handler: async () => new Response(), api: { getSession: async () => null } }
    expect((await failureOf(() => libraryAuth(plain))).message).to.contain('signOut')
    expect((await failureOf(() => libraryAuth(plain, { bodyLimit: 'much' }))).code).to.equal(
      'MORTAR_AUTH_OPTION',
    )
  })

  it("takes a function that makes the instance from the application's services", async () => {
    const { instance, database, prepare } = openBetterAuth()
    const app = createApp({ environment: 'test', logger: false, signals: false }).use(
      auth(libraryAuth(({ logger }) => (logger ? instance : (null as never)), { prepare })),
    )
    expect((await createClient(app).post('/api/auth/sign-up/email', ADA)).status).to.equal(200)
    await app.close()
    database.close()
  })
})

describe('A library that speaks Kysely, on the DataSource of the application', () => {
  for (const [end, kept] of [
    ['commits', ['ada', 'eve']],
    ['rolls back', ['ada']],
  ] as const)
    it(`${end} its transaction`, async () => {
      const source = await new DataSource({ type: 'better-sqlite3', database: ':memory:' }).initialize()
      const { dialect } = throughDataSource(source)
      const accounts = new Kysely<{ people: { name: string } }>({ dialect })
      await accounts.schema.createTable('people').addColumn('name', 'text').execute()
      const add = (db: typeof accounts, name: string) => db.insertInto('people').values({ name }).execute()
      await add(accounts, 'ada')
      const work = accounts.transaction().execute(async (transaction) => {
        await add(transaction, 'eve')
        if (end === 'rolls back') throw new Error('eve is refused')
      })
      expect(await work.catch(({ message }: Error) => message)).to.equal(
        end === 'commits' ? undefined : 'eve is refused',
      )
      expect(await source.query('select name from people order by name')).to.deep.equal(
        kept.map((name) => ({ name })),
      )
      await source.destroy()
    })
})
