import assert from 'node:assert/strict'
import type { User } from '../../../src/index.ts'
import type { PreparedProvider, ProviderAbilities } from './provider-fixture.ts'

/** What the service `authProvider` may have. */
interface Abilities {
  signOut?(userId: string): Promise<void>
  issueToken?(user: User): string | Promise<string>
}

/** What is declared is there, and what is there works. */
export async function keepsItsCapabilities(prepared: PreparedProvider): Promise<void> {
  const { app, client, user, fixture } = prepared
  const session = (app.services as unknown as { readonly authProvider: Abilities }).authProvider
  const found: ProviderAbilities = {
    routes: app.routes.some(({ origin }) => origin === "brick 'auth'"),
    signOut: session.signOut !== undefined,
    issueToken: session.issueToken !== undefined,
  }
  assert.deepEqual(found, fixture.abilities ?? found)
  const status = async (token: string) => (await client.withToken(token).get('/suite/signed-in')).status
  if (session.issueToken) {
    const token = await session.issueToken({ id: user.userId, raw: { id: user.userId } })
    assert.equal(await status(token), 200, 'a token that the provider issues')
  }
  if (session.signOut) await endsSessions(prepared, (userId) => session.signOut!(userId), status)
}

async function endsSessions(
  { app, user, fixture }: PreparedProvider,
  signOut: (userId: string) => Promise<void>,
  status: (token: string) => Promise<number>,
): Promise<void> {
  const other = await fixture.signIn(app)
  await signOut(user.userId)
  assert.equal(await status(user.token), 401, 'after signOut')
  assert.equal(await status(other.token), 200, "somebody else's session after signOut")
}

/** One event for the sign-in, which names the user and does not give the credential away. */
export async function tellsOfItsSignIn({ user, events }: PreparedProvider): Promise<void> {
  assert.deepEqual(
    events.map((event) => (event as { readonly userId?: string }).userId),
    [user.userId],
  )
  assert.ok(!JSON.stringify(events).includes(user.token), 'the event holds the credential')
}
