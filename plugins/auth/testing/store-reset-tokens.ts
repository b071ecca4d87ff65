import assert from 'node:assert/strict'
import { addUser, DAY, NOW, range, type StoreTest } from './store-fixtures.ts'

const tokenFor = (userId: string, n: number) => ({
  tokenHash: `reset-${n}`,
  userId,
  passwordVersion: 0,
  createdAt: NOW + n,
  expiresAt: NOW + DAY,
})

/** The tests of `authStoreSuite` about reset tokens. */
export function resetTokenTests(test: StoreTest): void {
  test('keeps the newest three tokens of a user', async (store) => {
    const { id } = await addUser(store)
    await Promise.all(range(10).map((n) => store.insertResetToken(tokenFor(id, n), 3)))
    const found = await Promise.all(range(10).map((n) => store.findResetToken(`reset-${n}`, NOW)))
    assert.deepEqual(
      found.map((token) => token !== null),
      range(10).map((n) => n >= 7),
    )
  })
  test('keeps the token that expires last, however many newer ones follow', async (store) => {
    const { id } = await addUser(store)
    await store.insertResetToken({ ...tokenFor(id, 0), expiresAt: NOW + 7 * DAY }, 3)
    for (const n of [1, 2, 3, 4]) await store.insertResetToken(tokenFor(id, n), 3)
    const found = await Promise.all(range(5).map((n) => store.findResetToken(`reset-${n}`, NOW)))
    assert.deepEqual(
      found.map((token) => token !== null),
      [true, false, false, true, true],
    )
  })
  test('leaves the tokens of other users alone', async (store) => {
    const [ada, bob] = [await addUser(store), await addUser(store, { id: 'bob', email: 'bob@example.com' })]
    await store.insertResetToken(tokenFor(bob.id, 0), 3)
    for (const n of [1, 2, 3, 4]) await store.insertResetToken(tokenFor(ada.id, n), 3)
    await store.deleteResetTokens(ada.id)
    assert.equal(await store.takeResetToken('reset-0', NOW), true)
  })
  test('lets one of 32 simultaneous takers have a token', async (store) => {
    const { id } = await addUser(store)
    await store.insertResetToken(tokenFor(id, 1), 3)
    const results = await Promise.all(range(32).map(() => store.takeResetToken('reset-1', NOW)))
    assert.equal(results.filter(Boolean).length, 1)
    assert.equal(await store.findResetToken('reset-1', NOW), null)
  })
  endTests(test)
}

function endTests(test: StoreTest): void {
  test('neither finds nor gives a token that has expired', async (store) => {
    const { id } = await addUser(store)
    await store.insertResetToken(tokenFor(id, 1), 3)
    assert.equal((await store.findResetToken('reset-1', NOW + DAY - 1))?.userId, id)
    assert.equal(await store.findResetToken('reset-1', NOW + DAY), null)
    assert.equal(await store.takeResetToken('reset-1', NOW + DAY), false)
  })
  test('deletes the tokens of a user that a new password has ended, and all of a user who is gone', async (store) => {
    const { id } = await addUser(store)
    const versions = [null, 0, 1]
    for (const [n, passwordVersion] of versions.entries())
      await store.insertResetToken({ ...tokenFor(id, n), passwordVersion }, 3)
    await store.setPassword({ userId: id, passwordHash: null, keptSession: null, now: NOW })
    const left = async () => {
      await store.deleteResetTokens(id)
      const found = versions.map((_, n) => store.findResetToken(`reset-${n}`, NOW))
      return (await Promise.all(found)).map((token) => token !== null)
    }
    assert.deepEqual(await left(), [false, false, true])
    await store.setDisabled(id, true, NOW)
    assert.equal(await store.deleteUser(id, 2), true)
    assert.deepEqual(await left(), [false, false, false])
  })
}
