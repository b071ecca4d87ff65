import assert from 'node:assert/strict'
import {
  addSession,
  addUser,
  DAY,
  familiesLeft,
  NOW,
  range,
  sessionFor,
  type StoreTest,
} from './store-fixtures.ts'

/** The part of `authStoreSuite` about sessions that a new password version ends. */
export function endOfSessionTests(test: StoreTest): void {
  test('deletes the sessions that a new password has ended, and only those', async (store) => {
    const user = await addUser(store)
    for (const n of [1, 2, 3]) await addSession(store, user, n)
    await store.setPassword({ userId: user.id, passwordHash: 'hash-1', keptSession: 'session-2', now: NOW })
    const again = await store.findUserById(user.id)
    await addSession(store, again!, 4)
    assert.deepEqual([...(await store.findEndedSessions(user.id))].toSorted(), ['session-1', 'session-3'])
    for (const n of [1, 2, 3, 4]) await store.publishEnded(`session-${n}`, NOW + DAY)
    await store.deleteEndedSessions(user.id)
    assert.deepEqual(await familiesLeft(store), [2, 4])
  })
  test('ends every session of a user and of nobody else with the password that is there', async (store) => {
    const [ada, bob] = [await addUser(store), await addUser(store, { id: 'bob', email: 'bob@example.com' })]
    await addSession(store, ada, 1)
    await addSession(store, ada, 2)
    await addSession(store, bob, 3)
    const { id: userId, passwordHash } = ada
    assert.equal(await store.setPassword({ userId, passwordHash, keptSession: null, now: NOW }), true)
    assert.deepEqual([...(await store.findEndedSessions(ada.id))].toSorted(), ['session-1', 'session-2'])
    await store.publishEndedOf(ada.id, 0, NOW + DAY)
    await store.deleteEndedSessions(ada.id)
    assert.deepEqual(await familiesLeft(store), [3])
  })
  test('keeps a session that has ended until its end is published', async (store) => {
    const user = await addUser(store)
    for (const n of [1, 2]) await addSession(store, user, n)
    await store.setPassword({ userId: user.id, passwordHash: 'hash-1', keptSession: null, now: NOW })
    await store.publishEnded('session-1', NOW + DAY)
    await store.deleteEndedSessions(user.id)
    assert.deepEqual(await familiesLeft(store), [2])
    assert.deepEqual(await store.findEndedSessions(user.id), ['session-2'])
  })
  test('deletes what has expired', async (store) => {
    const user = await addUser(store)
    await store.insertSession({ ...sessionFor(user, 1), expiresAt: NOW })
    await store.insertSession({ ...sessionFor(user, 2), expiresAt: NOW + 1 })
    const reset = { userId: user.id, passwordVersion: 0, createdAt: NOW - 1 }
    await store.insertResetToken({ ...reset, tokenHash: 'reset-1', expiresAt: NOW }, 3)
    await store.insertResetToken({ ...reset, tokenHash: 'reset-2', expiresAt: NOW + 1 }, 3)
    await store.deleteExpired(NOW)
    assert.deepEqual(await familiesLeft(store), [2])
    assert.equal(await store.findResetToken('reset-1', NOW - 1), null)
    assert.equal((await store.findResetToken('reset-2', NOW))?.passwordVersion, 0)
  })
  concurrencyTests(test)
}

/** Rounds of a race. The flows end sessions correctly only if no round shows the order that a test forbids. */
const ROUNDS = 20

function concurrencyTests(test: StoreTest): void {
  test('lets a session begin before a new password version or not at all', async (store) => {
    for (const round of range(ROUNDS)) {
      const user = await addUser(store, { id: `user-${round}`, email: `${round}@example.com` })
      const session = { ...sessionFor(user), id: `session-${round}`, familyHash: `family-${round}` }
      const change = { userId: user.id, passwordHash: 'hash-1', keptSession: null, now: NOW }
      const [began, ended] = await Promise.all([
        store.insertSession(session),
        store.setPassword(change).then(() => store.findEndedSessions(user.id)),
      ])
      if (began) assert.deepEqual(ended, [session.id])
    }
  })
  test('returns no session as published that began too late for it', async (store) => {
    const user = await addUser(store)
    for (const round of range(ROUNDS)) {
      const family = `family-${round}-`
      const begin = (n: number) =>
        store.insertSession({ ...sessionFor(user), id: `session-${round}-${n}`, familyHash: family + n })
      const [ids] = await Promise.all([
        store.publishEndedOf(user.id, 0, NOW + DAY),
        ...range(4).map((n) => begin(n)),
      ])
      for (const id of ids) assert.equal(await store.hasEnded(id), true, id)
    }
  })
}
