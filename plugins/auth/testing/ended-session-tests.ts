import assert from 'node:assert/strict'
import type { AuthStore } from '../accounts/auth-store.ts'
import { addSession, addUser, DAY, NOW, range } from './store-fixtures.ts'

type Test = (title: string, body: (store: AuthStore) => Promise<void>) => unknown

/** The part of `authStoreSuite` about the records of ended sessions. */
export function endedSessionTests(test: Test): void {
  test('are read by whoever asks, with the store own time', async (store) => {
    const before = await readAll(store)
    await store.publishEnded('session-1', NOW + DAY)
    const after = await readAll(store)
    if (before === undefined || after === undefined) return
    assert.deepEqual([...before.ended], [])
    assert.deepEqual([...after.ended], [['session-1', NOW + DAY]])
    assert.ok(after.now >= before.now)
    assert.deepEqual([...(await readAll(store, after.now + 60_000))!.ended], [])
  })
  test('are renewed when they are published again, also by 16 at the same time', async (store) => {
    await store.publishEnded('session-1', NOW)
    await Promise.all(range(16).map(() => store.publishEnded('session-1', NOW + 5)))
    const read = await readAll(store)
    if (read) assert.deepEqual([...read.ended], [['session-1', NOW + 5]])
  })
  test('name every session of a user up to a password version, and outlive the user', async (store) => {
    const [ada, bob] = [await addUser(store), await addUser(store, { id: 'bob', email: 'bob@example.com' })]
    for (const n of [1, 2]) await addSession(store, ada, n)
    await addSession(store, bob, 3)
    await store.setPassword({ userId: ada.id, passwordHash: 'hash-1', keptSession: null, now: NOW })
    await addSession(store, (await store.findUserById(ada.id))!, 4)
    const published = await Promise.all(range(4).map(() => store.publishEndedOf(ada.id, 0, NOW + DAY)))
    for (const ids of published) assert.deepEqual([...ids].toSorted(), ['session-1', 'session-2'])
    await store.deleteEndedSessions(ada.id)
    const read = await readAll(store)
    if (read) assert.deepEqual([...read.ended.keys()].toSorted(), ['session-1', 'session-2'])
    // A session of an earlier version, which a change of the password has kept.
    await store.setPassword({ userId: bob.id, passwordHash: 'hash-1', keptSession: 'session-3', now: NOW })
    assert.deepEqual(await store.publishEndedOf(bob.id, 1, NOW + DAY), ['session-3'])
  })
  expiryTests(test)
}

function expiryTests(test: Test): void {
  test('are known as long as the session is stored, also after they have expired', async (store) => {
    await addSession(store, await addUser(store))
    assert.equal(await store.hasEnded('session-1'), false)
    await store.publishEnded('session-1', NOW)
    assert.equal(await store.hasEnded('session-1'), true)
    await store.deleteExpired(NOW + 1)
    const left = await store.findSession('family-1')
    assert.equal(left !== null && !(await store.hasEnded('session-1')), false)
  })
  test('are deleted once they have expired', async (store) => {
    await store.publishEnded('session-1', NOW)
    await store.publishEnded('session-2', NOW + 1)
    await store.deleteExpired(NOW)
    const read = await readAll(store)
    if (read) assert.deepEqual([...read.ended.keys()], ['session-2'])
  })
  test('are kept while they have not expired by the clock of the store', async (store) => {
    await store.publishEnded('session-1', NOW)
    await store.publishEnded('session-2', NOW + 1)
    await store.deleteExpired(NOW + DAY, NOW)
    const read = await readAll(store)
    if (read) assert.deepEqual([...read.ended.keys()], ['session-2'])
  })
}

/**
 * Ids and expiries of the sessions that were published since a time, or that the store returns if no other process
 * can read it.
 */
async function readAll(store: AuthStore, moment = 0) {
  const reader = store.readEnded(5000)
  if (reader === undefined) return undefined
  try {
    const { sessions, now } = await reader.since(moment)
    return { now, ended: new Map(sessions.map(({ id, until }) => [id, until])) }
  } finally {
    reader.close()
  }
}
