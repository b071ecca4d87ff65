import { createApp, createRouter, type Environment, type User } from 'mortar'
import { auth, type AuthOptions } from '@mortar/auth'
import { hostedAuth, type HostedAuthOptions } from '@mortar/auth-hosted'
import { createClient, createClock } from 'mortar/testing'
import { AUDIENCE, startKeyServer, type SigningKey } from './key-server.ts'

/** Options of a test's world. */
export interface HostedWorldOptions {
  readonly keys: readonly SigningKey[]
  readonly hosted?: Partial<HostedAuthOptions>
  readonly brick?: AuthOptions
  readonly environment?: Environment
  /** The option `issuer`, by the address of the key server; that address by default. */
  readonly issuers?: (own: string) => readonly string[]
  /** Gives the address of the keys as `jwksUrl`. */
  readonly jwks?: boolean
}

/** An application that trusts a provider's key server, both there for one test. */
export type HostedWorld = Awaited<ReturnType<typeof openHostedWorld>>

export async function openHostedWorld(settings: HostedWorldOptions) {
  const { keys, hosted, brick, environment = 'test', issuers, jwks = false } = settings
  const clock = createClock(Date.UTC(2030, 0, 1, 12))
  const server = await startKeyServer(keys, () => clock.now())
  const options = {
    issuer: issuers?.(server.issuer) ?? server.issuer,
    audience: AUDIENCE,
    ...(jwks && { jwksUrl: `${server.issuer}/jwks` }),
    ...hosted,
  }
  const app = createApp({ environment, logger: false, clock, signals: false })
    .use(auth(hostedAuth(options), brick))
    .use(
      createRouter()
        .get('/private', { auth: true }, ({ user }) => user)
        .get('/public', ({ user }) => ({ id: user?.id ?? null })),
    )
  const client = createClient(app)
  const close = async () => {
    await app.close()
    await server.close()
  }
  /** The status of the guarded route with this token. */
  const statusOf = async (token: string) => (await client.withToken(token).get('/private')).status
  /** The user whom the guarded route sees with this token. */
  const userOf = async (token: string) => (await client.withToken(token).get('/private')).body as User
  return { app, clock, server, client, statusOf, userOf, close }
}

/** Opens a world, hands it over and closes it whatever happens. */
export async function inHostedWorld(
  options: HostedWorldOptions,
  body: (world: HostedWorld) => Promise<unknown>,
): Promise<void> {
  const world = await openHostedWorld(options)
  try {
    await body(world)
  } finally {
    await world.close()
  }
}
