import assert from 'node:assert/strict'
import { createRouter, Forbidden, type Authenticator, type Policy } from 'mortar'
import { keepsItsCapabilities, tellsOfItsSignIn } from './provider-abilities.ts'
import { refusesWhenDisturbed } from './provider-faults.ts'
import type { PreparedProvider as Prepared, ProviderFixture } from './provider-fixture.ts'
import { createClient, skipTest, type SuiteRunner } from 'mortar/testing'

const POLICIES: Readonly<Record<string, Policy>> = {
  yes: () => true,
  no: () => false,
  truthy: () => 1 as unknown as boolean,
  later: async () => true,
  self: (user, ctx) => ctx.params['id'] === user.id,
  forbidden: () => {
    throw new Forbidden('Not on Sundays.', { code: 'sunday' })
  },
  faulty: () => {
    throw new Error('A mistake in the policy.')
  },
}

/**
 * Contract tests of auth providers: guard and policies, the order of credentials, invalid credentials, HEAD, cross-site
 * requests, the OpenAPI scheme, capabilities, events, failures and hangs. Run it with your test runner's own functions:
 * `providerSuite({ describe, it }, 'my provider', () => fixture)`.
 */
export function providerSuite(runner: SuiteRunner, name: string, createFixture: () => ProviderFixture): void {
  const { describe, it } = runner
  /** Registers a test, which is skipped if the fixture does not support it. */
  const test = (
    title: string,
    body: (prepared: Prepared) => Promise<void>,
    needs?: 'signInEvent' | 'disturb',
  ) =>
    it(title, function run(this: unknown, ...args: unknown[]) {
      return inPreparedApp(createFixture(), async (prepared) => {
        if (needs !== undefined && prepared.fixture[needs] === undefined) skipTest(this, args[0])
        else await body(prepared)
      })
    })

  describe(`The auth provider: ${name}`, () => {
    test('lets its user in and says who it is', letsItsUserIn)
    test('keeps the table of guards and policies', keepsTheTable)
    test('serves nobody as null on a public route, and as 401 on a guarded one', servesNobody)
    test('takes a credential that proves nobody for nobody, and never fails on it', refusesInvalid)
    test('takes header before cookie before query, with no fall-back', keepsTheOrder)
    test('guards HEAD as GET', guardsHead)
    test('lets no page of another site write with its cookie', refusesCrossSite)
    test('describes itself in the OpenAPI document', describesItself)
    test('can do what it declares', keepsItsCapabilities)
    test('tells of a sign-in by one event, without its token', tellsOfItsSignIn, 'signInEvent')
    test('lets nobody in when what it asks fails', whenItThrows, 'disturb')
    test('holds no request when what it asks hangs', whenItHangs, 'disturb')
  })
}

const whenItThrows = (prepared: Prepared): Promise<void> => refusesWhenDisturbed(prepared, 'throws')
const whenItHangs = (prepared: Prepared): Promise<void> => refusesWhenDisturbed(prepared, 'hangs')

async function inPreparedApp(
  fixture: ProviderFixture,
  body: (prepared: Prepared) => Promise<void>,
): Promise<void> {
  const app = (await fixture.createApp(POLICIES)).use(guardedRoutes())
  try {
    await app.ready()
    const events: object[] = []
    if (fixture.signInEvent !== undefined) app.events.on(fixture.signInEvent, (event) => events.push(event))
    const user = await fixture.signIn(app)
    await body({ app, client: createClient(app), user, events, fixture })
  } finally {
    await app.close()
    await fixture.close?.()
  }
}

function guardedRoutes() {
  const router = createRouter({ prefix: '/suite' })
    .get('/public', (ctx) => ({ id: ctx.user?.id ?? null }))
    .get('/signed-in', { auth: true }, (ctx) => ({
      id: ctx.user.id,
      raw: typeof ctx.user.raw,
      emailVerified: typeof ctx.user.emailVerified,
    }))
    .post('/write', { auth: true }, () => ({}))
    .get('/self/:id', { auth: 'self' }, () => ({}))
    .get('/all', { auth: ['yes', 'later'] }, () => ({}))
    .get('/some', { auth: ['yes', 'no'] }, () => ({}))
  for (const policy of Object.keys(POLICIES)) router.get(`/policy/${policy}`, { auth: policy }, () => ({}))
  return router
}

async function letsItsUserIn({ client, user }: Prepared): Promise<void> {
  const { status, body } = await client.withToken(user.token).get('/suite/signed-in')
  assert.deepEqual([status, body], [200, { id: user.userId, raw: 'object', emailVerified: 'boolean' }])
}

async function keepsTheTable({ client, user }: Prepared): Promise<void> {
  const table: Readonly<Record<string, number>> = {
    '/suite/policy/yes': 200,
    '/suite/policy/no': 403,
    '/suite/policy/truthy': 403,
    '/suite/policy/later': 200,
    '/suite/policy/forbidden': 403,
    '/suite/policy/faulty': 500,
    '/suite/all': 200,
    '/suite/some': 403,
    [`/suite/self/${user.userId}`]: 200,
    '/suite/self/somebody-else': 403,
  }
  for (const [path, expected] of Object.entries(table)) {
    assert.equal((await client.withToken(user.token).get(path)).status, expected, path)
    assert.equal((await client.get(path)).status, 401, `${path} without a credential`)
  }
}

async function servesNobody({ client }: Prepared): Promise<void> {
  assert.deepEqual((await client.get('/suite/public')).body, { id: null })
  const { status, headers } = await client.get('/suite/signed-in')
  assert.deepEqual([status, headers['www-authenticate']], [401, 'Bearer'])
}

async function refusesInvalid({ client, user, fixture }: Prepared): Promise<void> {
  const invalid = await fixture.invalid(user)
  for (const token of ['garbage', 'a.b.c', '.', 'x'.repeat(10_000), ...invalid]) {
    const { status, headers } = await client.withToken(token).get('/suite/signed-in')
    const shown = token.length > 60 ? `${token.slice(0, 20)}…` : token
    assert.equal(status, 401, shown)
    assert.equal(headers['www-authenticate'], 'Bearer error="invalid_token"', shown)
    assert.deepEqual((await client.withToken(token).get('/suite/public')).body, { id: null }, shown)
  }
}

async function keepsTheOrder({ app, client, user }: Prepared): Promise<void> {
  const { token, userId } = user
  const value = encodeURIComponent(token)
  const id = async (headers: Record<string, string>, query: Record<string, string> = {}): Promise<unknown> =>
    (await client.get('/suite/public', { headers, query })).body.id
  const { authenticator } = app.services as unknown as { readonly authenticator: Authenticator }
  for (const name of ['access_token', ...[authenticator.cookie ?? []].flat()]) {
    assert.equal(await id({ cookie: `${name}=${value}` }), userId, `the cookie ${name}`)
    assert.equal(await id({ cookie: `${name}=${value}`, authorization: 'Bearer garbage' }), null, name)
    assert.equal(await id({ cookie: `${name}=garbage` }, { access_token: token }), null, name)
  }
  assert.equal(await id({}, { access_token: token }), userId)
}

async function guardsHead({ client, user }: Prepared): Promise<void> {
  assert.equal((await client.head('/suite/signed-in')).status, 401)
  assert.equal((await client.withToken(user.token).head('/suite/signed-in')).status, 200)
}

async function refusesCrossSite({ client, user }: Prepared): Promise<void> {
  const write = async (headers: Record<string, string>) =>
    client.post('/suite/write', undefined, { headers: { origin: 'https://evil.example', ...headers } })
  const cookie = `access_token=${encodeURIComponent(user.token)}`
  const refused = await write({ cookie, 'sec-fetch-site': 'cross-site' })
  assert.deepEqual([refused.status, refused.body.code], [403, 'cross_site_request'])
  assert.equal((await write({ cookie, 'sec-fetch-site': 'same-origin' })).status, 200)
  const authorization = `Bearer ${user.token}`
  assert.equal((await write({ authorization, 'sec-fetch-site': 'cross-site' })).status, 200)
}

async function describesItself({ client }: Prepared): Promise<void> {
  const { body } = await client.get('/openapi.json')
  const schemes = Object.keys(body.components.securitySchemes)
  assert.equal(schemes.length, 1)
  const operation = body.paths['/suite/policy/yes'].get
  assert.deepEqual(operation.security.map(Object.keys), [schemes])
  assert.deepEqual(operation['x-policies'], ['yes'])
  assert.ok('401' in operation.responses && '403' in operation.responses)
  assert.equal(body.paths['/suite/public'].get.security, undefined)
}
