import assert from 'node:assert/strict'
import type { App } from '../app/app.ts'
import type { Policy } from '../contracts/authenticator.ts'
import { Forbidden } from '../errors/http-error.ts'
import { createRouter } from '../routing/router.ts'
import { createClient, type TestClient } from './test-client.ts'
import type { SuiteRunner } from './suite-runner.ts'

/** Somebody who signed in with the provider. */
export interface SignedInUser {
  readonly userId: string
  /** A credential that the provider accepts. */
  readonly token: string
}

/** A provider as the suite needs it. Each test makes its own applications. */
export interface ProviderFixture {
  /** An application with the provider's auth brick, these policies, and whatever else the provider needs; not started. */
  createApp(policies: Readonly<Record<string, Policy>>): App | Promise<App>
  /** Signs a new user in to that application. */
  signIn(app: App): Promise<SignedInUser>
  /** Credentials that prove nobody: expired, tampered with, foreign, garbage. */
  readonly invalid: (user: SignedInUser) => readonly string[]
}

interface Prepared {
  readonly app: App
  readonly client: TestClient
  readonly user: SignedInUser
}

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
 * What every auth provider keeps: guard and policies, the order of credentials, nobody's credentials, HEAD, the OpenAPI
 * scheme. Run it with your test runner's own functions: `providerSuite({ describe, it }, 'my provider', () => fixture)`.
 */
export function providerSuite(runner: SuiteRunner, name: string, createFixture: () => ProviderFixture): void {
  const { describe, it } = runner
  const test = (title: string, body: (prepared: Prepared, fixture: ProviderFixture) => Promise<void>) =>
    it(title, async () => {
      const fixture = createFixture()
      const app = (await fixture.createApp(POLICIES)).use(guardedRoutes())
      try {
        await app.ready()
        await body({ app, client: createClient(app), user: await fixture.signIn(app) }, fixture)
      } finally {
        await app.close()
      }
    })

  describe(`The auth provider: ${name}`, () => {
    test('lets its user in and says who it is', letsItsUserIn)
    test('keeps the table of guards and policies', keepsTheTable)
    test('serves nobody as null on a public route, and as 401 on a guarded one', servesNobody)
    test('takes a credential that proves nobody for nobody, and never fails on it', refusesInvalid)
    test('takes header before cookie before query, with no fall-back', keepsTheOrder)
    test('guards HEAD as GET', guardsHead)
    test('describes itself in the OpenAPI document', describesItself)
  })
}

function guardedRoutes() {
  const router = createRouter({ prefix: '/suite' })
    .get('/public', (ctx) => ({ id: ctx.user?.id ?? null }))
    .get('/signed-in', { auth: true }, (ctx) => ({ id: ctx.user.id, raw: typeof ctx.user.raw }))
    .get('/self/:id', { auth: 'self' }, () => ({}))
    .get('/all', { auth: ['yes', 'later'] }, () => ({}))
    .get('/some', { auth: ['yes', 'no'] }, () => ({}))
  for (const policy of Object.keys(POLICIES)) router.get(`/policy/${policy}`, { auth: policy }, () => ({}))
  return router
}

async function letsItsUserIn({ client, user }: Prepared): Promise<void> {
  const { status, body } = await client.withToken(user.token).get('/suite/signed-in')
  assert.deepEqual([status, body], [200, { id: user.userId, raw: 'object' }])
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

async function refusesInvalid({ client, user }: Prepared, fixture: ProviderFixture): Promise<void> {
  for (const token of ['garbage', 'a.b.c', '.', 'x'.repeat(10_000), ...fixture.invalid(user)]) {
    const { status, headers } = await client.withToken(token).get('/suite/signed-in')
    const shown = token.length > 60 ? `${token.slice(0, 20)}…` : token
    assert.equal(status, 401, shown)
    assert.equal(headers['www-authenticate'], 'Bearer error="invalid_token"', shown)
    assert.deepEqual((await client.withToken(token).get('/suite/public')).body, { id: null }, shown)
  }
}

async function keepsTheOrder({ client, user }: Prepared): Promise<void> {
  const { token, userId } = user
  const id = async (path: string, headers: Record<string, string>): Promise<unknown> =>
    (await client.get(path, { headers })).body.id
  assert.equal(await id('/suite/public', { cookie: `access_token=${token}` }), userId)
  assert.equal(await id(`/suite/public?access_token=${token}`, {}), userId)
  assert.equal(
    await id('/suite/public', { cookie: `access_token=${token}`, authorization: 'Bearer garbage' }),
    null,
  )
  assert.equal(await id(`/suite/public?access_token=${token}`, { cookie: 'access_token=garbage' }), null)
}

async function guardsHead({ client, user }: Prepared): Promise<void> {
  assert.equal((await client.head('/suite/signed-in')).status, 401)
  assert.equal((await client.withToken(user.token).head('/suite/signed-in')).status, 200)
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
