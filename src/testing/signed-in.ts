import { optionalService } from '../container/optional-service.ts'
import type { Authenticator } from '../contracts/authenticator.ts'
import type { User } from '../contracts/user.ts'
import { createClient, type Injectable, type TestClient, type TestClientOptions } from './test-client.ts'

/** The part of an application that `signedIn` uses. */
export interface SignedInApp extends Injectable {
  ready(): Promise<unknown>
  readonly services: object
}

/** The user to sign in; `raw` is the provider's own record, for example with a role. */
export type TestUser = Pick<User, 'id'> & Partial<User>

/**
 * A client whose requests carry a valid access token of this user, without a sign-up and its password hash.
 * @throws Error if the application's provider cannot issue tokens. With a hosted provider, sign in there.
 */
export async function signedIn(
  app: SignedInApp,
  user: TestUser,
  options: TestClientOptions = {},
): Promise<TestClient> {
  await app.ready()
  const authenticator = optionalService<Authenticator>(app.services, 'authenticator')
  if (!authenticator?.issueToken)
    throw new Error('signedIn() needs an auth provider that issues tokens by itself.')
  const token = await authenticator.issueToken({ ...user, raw: { ...publicPart(user), ...user.raw } })
  return createClient(app, options).withToken(token)
}

function publicPart({ id, email, name }: TestUser): Record<string, unknown> {
  return { id, ...(email === undefined ? {} : { email }), ...(name === undefined ? {} : { name }) }
}
