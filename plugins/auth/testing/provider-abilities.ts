import assert from 'node:assert/strict'
import type { User } from 'mortar'
import type { PreparedProvider, ProviderAbilities } from './provider-fixture.ts'

/** Optional members of the service `authProvider`. */
interface Abilities {
  signOut?(userId: string): Promise<void>
  issueToken?(user: User): string | Promise<string>
}

/** Checks that declared capabilities exist and that existing ones work. */
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

/** Checks that a sign-in emits one event, which names the user and does not contain the credential. */
export async function tellsOfItsSignIn({ user, events }: PreparedProvider): Promise<void> {
  assert.deepEqual(
    events.map((event) => (event as { readonly userId?: string }).userId),
    [user.userId],
  )
  assert.ok(!JSON.stringify(events).includes(user.token), 'the event contains the credential')
}
