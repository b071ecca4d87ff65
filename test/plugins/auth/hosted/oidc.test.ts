import { setImmediate as turnOfTheLoop } from 'node:timers/promises'
import { expect } from 'chai'
import { decodeJwt, decodeProtectedHeader } from 'jose'
import { createApp, createRouter, type Clock } from 'mortar'
import { auth } from '@mortar/auth'
import { hostedAuth, type HostedAuthOptions } from '@mortar/auth-hosted'
import { createClient, createClock } from 'mortar/testing'
import { API, privateKey, startOidcServer, type OidcServer } from './support/oidc-server.ts'

describe('an application behind an OpenID Connect server', () => {
  it('lets in who signed in there by authorization code with PKCE', () =>
    withServer(async (server) => {
      const { accessToken, idToken } = await server.signIn('ada')
      await withApp(server, {}, async ({ client, statusOf }) => {
        const { status, body } = await client.withToken(accessToken).get('/private')
        expect([status, body.id]).to.deep.equal([200, 'ada'])
        expect(body.raw).to.include({ iss: server.issuer, aud: API, scope: 'notes' })
        expect(decodeProtectedHeader(accessToken).typ).to.equal('at+jwt')
        // The ID token is for the page: the same keys have signed it, and it opens no API.
        expect(decodeJwt(idToken)).to.include({ sub: 'ada', aud: 'page' })
        expect(await statusOf(idToken)).to.equal(401)
      })
    }))

  for (const alg of ['RS256', 'ES256', 'EdDSA'])
    it(`verifies what it signs with ${alg}`, () =>
      withServer(async (server) => {
        const { accessToken } = await server.signIn('ada')
        await withApp(server, {}, async ({ statusOf }) => {
          expect(decodeProtectedHeader(accessToken).alg).to.equal(alg)
          expect(await statusOf(accessToken)).to.equal(200)
        })
      }, alg))

  it('refuses tokens for another API, of another server, and those that have expired', () =>
    withServer((server) =>
      withServer(async (foreign) => {
        const { accessToken } = await server.signIn('ada')
        const [here, elsewhere] = [
          await server.machineToken(),
          await server.machineToken('https://other.example.com'),
        ]
        const { accessToken: foreignToken } = await foreign.signIn('ada')
        const clock = createClock()
        await withApp(
          server,
          {},
          async ({ statusOf }) => {
            expect(await statusOf(here)).to.equal(200)
            expect(await statusOf(elsewhere)).to.equal(401)
            expect(await statusOf(foreignToken)).to.equal(401)
            expect(await statusOf(accessToken)).to.equal(200)
            const { exp } = decodeJwt(accessToken)
            clock.set((exp! + 4) * 1000)
            expect(await statusOf(accessToken)).to.equal(200)
            clock.set((exp! + 6) * 1000)
            expect(await statusOf(accessToken)).to.equal(401)
          },
          clock,
        )
      }),
    ))

  it('refuses a client that is not among the authorised parties', () =>
    withServer(async (server) => {
      const { accessToken } = await server.signIn('ada')
      const machine = await server.machineToken()
      const options = { claims: { client_id: 'page' } }
      await withApp(server, options, async ({ statusOf }) => {
        expect(await statusOf(accessToken)).to.equal(200)
        expect(await statusOf(machine)).to.equal(401)
      })
    }))

  it('keeps every request right while the server changes its keys under load', async () => {
    const [first, second, third] = [await privateKey('1'), await privateKey('2'), await privateKey('3')]
    const server = await startOidcServer([first])
    try {
      await withApp(server, { coolDown: 0 }, async ({ statusOf }) => {
        const before = await server.machineToken()
        const statuses: number[] = []
        const traffic = { goesOn: true }
        const load = async (): Promise<void> => {
          while (traffic.goesOn) statuses.push(await statusOf(await server.machineToken()))
        }
        const loads = [load(), load(), load(), load()]
        await reached(() => statuses.length >= 8)
        server.rotate([second, first])
        await reached(() => statuses.length >= 24)
        expect(await statusOf(before)).to.equal(200)
        server.rotate([third, second])
        await reached(() => statuses.length >= 40)
        traffic.goesOn = false
        await Promise.all(loads)
        expect(new Set(statuses)).to.deep.equal(new Set([200]))
        expect(await statusOf(before)).to.equal(401)
      })
    } finally {
      await server.close()
    }
  })

  it('refuses with 503 while the server is away, and serves nobody where that is allowed', async () => {
    const server = await startOidcServer([await privateKey('1')])
    const token = await server.machineToken()
    await server.close()
    await withApp(server, {}, async ({ client }) => {
      const { status, headers } = await client.withToken(token).get('/private')
      expect([status, headers['retry-after']]).to.deep.equal([503, '1'])
      expect((await client.withToken(token).get('/public')).body).to.deep.equal({ id: null })
    })
  })
})

async function withServer(body: (server: OidcServer) => Promise<unknown>, alg = 'RS256'): Promise<void> {
  const server = await startOidcServer([await privateKey('1', alg)])
  try {
    await body(server)
  } finally {
    await server.close()
  }
}

async function withApp(
  { issuer }: OidcServer,
  options: Partial<HostedAuthOptions>,
  body: (world: ReturnType<typeof openApp>) => Promise<unknown>,
  clock?: Clock,
): Promise<void> {
  const world = openApp(issuer, options, clock)
  try {
    await body(world)
  } finally {
    await world.app.close()
  }
}

/** The clock is that of the server by default, because one that does not move would soon be too far behind for its tokens. */
function openApp(issuer: string, options: Partial<HostedAuthOptions>, clock: Clock = { now: Date.now }) {
  const app = createApp({ environment: 'test', logger: false, clock })
    .use(auth(hostedAuth({ issuer, audience: API, ...options })))
    .use(
      createRouter()
        .get('/private', { auth: true }, ({ user }) => user)
        .get('/public', ({ user }) => ({ id: user?.id ?? null })),
    )
  const client = createClient(app)
  const statusOf = async (token: string) => (await client.withToken(token).get('/private')).status
  return { app, client, statusOf }
}

async function reached(condition: () => boolean): Promise<void> {
  const end = performance.now() + 60_000
  while (!condition()) {
    if (performance.now() > end) throw new Error('It did not happen within a minute.')
    await turnOfTheLoop()
  }
}
