import assert from 'node:assert/strict'
import { addSession, addUser, NOW, range, type StoreTest } from './store-fixtures.ts'

/** The part of `authStoreSuite` about what the commands of an operator read. */
export function operatorTests(test: StoreTest): void {
  test('lists users by address, in parts that neither repeat nor leave out one', async (store) => {
    const emails = range(7).map((n) => `user-${n}@example.com`)
    for (const email of emails.toReversed()) await addUser(store, { id: `id-${email}`, email })
    const found: string[] = []
    for (let after = ''; ;) {
      const part = await store.findUsers({ search: '', after, limit: 3 })
      assert.ok(part.length <= 3)
      if (part.length === 0) break
      found.push(...part.map(({ email }) => email))
      after = found.at(-1)!
    }
    assert.deepEqual(found, emails)
  })
  test('finds users by any part of the address or the name, and takes no character for a pattern', async (store) => {
    const names = ['Ada Lovelace', "O'Hara 100%", 'under_score', 'back\\slash', 'a.*b!']
    for (const [n, name] of names.entries())
      await addUser(store, { id: `id-${n}`, email: `u${n}@x.test`, name })
    const search = async (text: string): Promise<string> =>
      (await store.findUsers({ search: text, after: '', limit: 9 })).map(({ id }) => id.slice(3)).join()
    assert.equal(await search('LOVE'), '0')
    assert.equal(await search("o'h"), '1')
    assert.equal(await search('%'), '1')
    assert.equal(await search('_'), '2')
    assert.equal(await search('k\\s'), '3')
    assert.equal(await search('.*'), '4')
    assert.equal(await search('!'), '4')
    assert.equal(await search('U3@X'), '3')
    assert.equal(await search('nobody'), '')
  })
  test('lists the sessions of a user, the newest first, and tells how many records it deleted', async (store) => {
    const user = await addUser(store)
    await addSession(store, user, 1)
    await addSession(store, user, 2)
    const sessions = await store.findSessions(user.id)
    assert.deepEqual(sessions.map(({ id }) => id).toSorted(), ['session-1', 'session-2'])
    assert.deepEqual(await store.findSessions('nobody'), [])
    await store.publishEnded('session-9', NOW)
    const last = Math.max(...sessions.map(({ expiresAt }) => expiresAt))
    const nothing = { sessions: 0, resetTokens: 0, endedSessions: 0 }
    assert.deepEqual(await store.deleteExpired(NOW - 1), nothing)
    assert.deepEqual(await store.deleteExpired(last), { ...nothing, sessions: 2, endedSessions: 1 })
  })
}
