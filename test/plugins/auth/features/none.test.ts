import { expect } from 'chai'
import { createApp } from 'mortar'
import { auth } from '@mortar/auth'
import { basicAuth } from '@mortar/auth/basic'
import { hostedAuth } from '@mortar/auth-hosted'
import { libraryAuth } from '@mortar/auth-library'
import { recent } from '@mortar/auth/recent'
import { sessions } from '@mortar/auth/sessions'
import { userOf } from '../../../../plugins/auth/accounts/signed-in-user.ts'
import { onEachStore } from '../support/on-each-store.ts'
import { failureOf } from '../support/failure-of.ts'
import { ADA, inWorld as onSqlite, PASSWORD, SECRET, settle, signedUp, type World } from '../support/world.ts'

/** Every byte of a request of each endpoint, but tokens, ids and dates. */
async function bytesOf(world: World): Promise<string[]> {
  const client = world.client()
  const answers = [
    await client.post('/auth/signup', ADA),
    await client.post('/auth/signup', ADA),
    await client.post('/auth/login', ADA),
    await client.post('/auth/login', { ...ADA, password: 'wrong horse' }),
    await client.post('/auth/refresh'),
    await client.get('/auth/me'),
    await client.post('/auth/change-password', { current: PASSWORD, next: 'another horse battery' }),
    await client.post('/auth/forgot-password', { email: ADA.email }),
    // After the work of the mail, whose statements would come in another order.
    await settle(world).then(() => client.post('/auth/reset-password', { token: 'x', password: PASSWORD })),
    await client.post('/auth/logout'),
    await client.post('/auth/confirm', { password: PASSWORD }),
    await client.get('/auth/sessions'),
  ]
  await settle(world)
  return answers.map(({ status, headers, text }) =>
    `${status} ${JSON.stringify(Object.keys(headers).toSorted())} ${text}`
      .replaceAll(/[\w-]+\.[\w-]+\.[\w-]{43}/g, '[token]')
      .replaceAll(/"instance":"[^"]*"/g, '[instance]')
      .replaceAll(/[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}/g, '[id]'),
  )
}

onEachStore('Without features', (inWorld) => {
  it('the provider has the bytes and statements of a provider without the option', async () => {
    const seen: unknown[] = []
    for (const options of [{}, { features: [] }])
      await inWorld({ auth: options }, async (world) => {
        const statements: string[] = []
        world.storage.interruptions.gate = (statement) => void statements.push(String(statement))
        seen.push({
          bytes: await bytesOf(world),
          // The follower and the housekeeping come in their own time.
          statements: statements.filter((statement) => statement !== 'select ended sessions').toSorted(),
          routes: world.app.routes.map(({ method, path }) => `${method} ${path}`),
          events: world.typesOf(),
        })
      })
    expect(seen[1]).to.deep.equal(seen[0])
    const [{ bytes, routes }] = seen as [{ bytes: string[]; routes: string[] }]
    expect(bytes.slice(-2).map((each) => each.slice(0, 3))).to.deep.equal(['404', '404'])
    expect(routes.filter((route) => route.includes('/auth/'))).to.have.length(8)
  })

  it('the user of a request has a session', () =>
    inWorld({}, async (world) => {
      const client = await signedUp(world)
      const provider = world.app.services as unknown as {
        authProvider: { identify: (credential: object, request: object) => Promise<object> }
      }
      const { session } = (await provider.authProvider.identify(
        { token: client.accessToken, source: 'header' },
        {},
      )) as { session: object }
      const [{ id, created_at: createdAt }] = await world.storage.sessions()
      expect(session).to.deep.equal({ id, authenticatedAt: Number(createdAt), methods: ['pwd'] })
      world.clock.advance(60)
      await client.post('/auth/refresh')
      const later = (await provider.authProvider.identify(
        { token: client.accessToken, source: 'header' },
        {},
      )) as { session: object }
      expect(later.session).to.deep.equal(session)
    }))
})

describe('Without features', () => {
  it('the provider has four tables, and each feature its own', () => {
    const own = ['auth_users', 'auth_refresh_tokens', 'auth_reset_tokens', 'auth_ended_sessions']
    expect(basicAuth({ secret: SECRET }).tables).to.deep.equal(own)
    const tables = basicAuth({ secret: SECRET, features: [recent(), sessions()] }).tables
    expect(tables).to.deep.equal([...own, 'auth_session_details'])
  })

  it('a user without a session has no member for it', () => {
    expect(userOf({ sub: 'a', user: { email: 'a@b.example', name: 'A' } })).to.not.have.property('session')
  })

  it('a policy has the clock of the application', () =>
    onSqlite(
      {
        brick: {
          policies: {
            self: () => true,
            admin: ({ session }, { services }) => services.clock.now() - session!.authenticatedAt! < 1000,
          },
        },
      },
      async (world) => {
        const client = await signedUp(world)
        expect((await client.get('/admin')).status).to.equal(200)
        world.clock.advance(1)
        expect((await client.get('/admin')).status).to.equal(403)
      },
    ))

  it('hostedAuth and libraryAuth name the features that are not theirs', async () => {
    const features = [recent(), sessions()]
    for (const make of [
      () => hostedAuth({ issuer: 'https://a.example', audience: 'b', features } as never),
      () => libraryAuth({} as never, { features } as never),
    ]) {
      const error = await failureOf(make)
      expect(error.code).to.equal('MORTAR_AUTH_OPTION')
      expect(error.message).to.include('recent(), sessions()')
    }
    const app = createApp({ environment: 'test', logger: false })
    expect(() => app.use(auth(basicAuth({ secret: SECRET, features })))).to.not.throw()
    await app.close()
  })
})
