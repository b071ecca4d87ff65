import assert from 'node:assert/strict'
import type { PreparedProvider } from './provider-fixture.ts'

/** Longest that a request may be held, in milliseconds. */
const PATIENCE = 5000

/**
 * A credential that cannot be evaluated opens no guarded route, and leaves a public one to answer nobody. A provider
 * that hangs is given up on with a 503 that says when to try again.
 */
export async function refusesWhenDisturbed(
  { app, client, user, fixture }: PreparedProvider,
  how: 'throws' | 'hangs',
): Promise<void> {
  await fixture.disturb!(app, how)
  const begun = performance.now()
  const holder = client.withToken(user.token)
  const [guarded, policy, open] = await Promise.all([
    holder.get('/suite/signed-in'),
    holder.get('/suite/policy/yes'),
    holder.get('/suite/public'),
  ])
  for (const { status, text, headers } of [guarded, policy]) {
    assert.ok(status === 503 || (how === 'throws' && status === 500), `the status is ${status}`)
    assert.ok(!text.includes(user.userId), 'the refusal tells of the user')
    if (status === 503) assert.match(String(headers['retry-after']), /^[1-9]\d*$/)
  }
  assert.deepEqual([open.status, open.body], [200, { id: null }])
  assert.ok(performance.now() - begun < PATIENCE, 'the requests were held')
}
