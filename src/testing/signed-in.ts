import type { Authenticator } from '../contracts/authenticator.ts'
import type { User } from '../contracts/user.ts'
import { createClient, type Injectable, type TestClient, type TestClientOptions } from './test-client.ts'

/** What `signedIn` needs of an application. */
export interface SignedInApp extends Injectable {
  ready(): Promise<unknown>
  readonly services: object
}

/** The user to be signed in; `raw` is what the provider would know of the user, such as a role. */
export type TestUser = Pick<User, 'id'> & Partial<User>

/**
 * A client whose requests carry a valid access token of this user, without a sign-up and its password hash.
 * @throws Error when the application's provider cannot issue tokens (a hosted one: sign in there).
 */
export async function signedIn(
  app: SignedInApp,
  user: TestUser,
  options: TestClientOptions = {},
): Promise<TestClient> {
  await app.ready()
  const authenticator = authenticatorOf(app.services)
  if (!authenticator?.issueToken)
    throw new Error('signedIn() needs an auth provider that issues tokens by itself.')
  const token = await authenticator.issueToken({ ...user, raw: { ...publicPart(user), ...user.raw } })
  return createClient(app, options).withToken(token)
}

/** The container throws for a service that is not there, instead of answering undefined. */
function authenticatorOf(services: object): Authenticator | undefined {
  return Object.hasOwn(services, 'authenticator')
    ? (services as { authenticator: Authenticator }).authenticator
    : undefined
}

function publicPart({ id, email, name }: TestUser): Record<string, unknown> {
  return { id, ...(email === undefined ? {} : { email }), ...(name === undefined ? {} : { name }) }
}
