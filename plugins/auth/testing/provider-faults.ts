import assert from 'node:assert/strict'
import type { PreparedProvider } from './provider-fixture.ts'

/** Longest permitted duration of a request in milliseconds. */
const PATIENCE = 5000

/**
 * Checks that a guarded route refuses a credential that cannot be evaluated, and that a public one has no user. A
 * provider that hangs leads to a 503 with `Retry-After`.
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
    assert.ok(!text.includes(user.userId), 'the refusal names the user')
    if (status === 503) assert.match(String(headers['retry-after']), /^[1-9]\d*$/)
  }
  assert.deepEqual([open.status, open.body], [200, { id: null }])
  assert.ok(performance.now() - begun < PATIENCE, 'the requests took too long')
}
