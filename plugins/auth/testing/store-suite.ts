import assert from 'node:assert/strict'
import type { AuthStore } from '../accounts/auth-store.ts'
import { resetTokenTests } from './store-reset-tokens.ts'
import { addressTests } from './address-tests.ts'
import { operatorTests } from './operator-tests.ts'
import { endedSessionTests } from './ended-session-tests.ts'
import { endOfSessionTests } from './end-of-session-tests.ts'
import type { SuiteRunner } from 'mortar/testing'
import { ADA, addSession, addUser, NOW, range, sessionFor, type StoreTest } from './store-fixtures.ts'

/** An empty store, and a function that removes it. */
export interface OpenStore {
  readonly store: AuthStore
  close(): Promise<void>
}

/**
 * The tests that every implementation of `AuthStore` passes: run it with your runner's `describe` and `it` and a
 * function that opens an empty store. The flows rely on these rules to be free of races.
 */
export function authStoreSuite(
  { describe, it }: SuiteRunner,
  name: string,
  open: () => Promise<OpenStore>,
): void {
  const test = (title: string, body: (store: AuthStore) => Promise<void>) =>
    it(title, async () => {
      const opened = await open()
      try {
        await body(opened.store)
      } finally {
        await opened.close()
      }
    })

  describe(`auth store: ${name}`, () => {
    describe('users', () => userTests(test))
    describe('accounts', () => accountTests(test))
    describe('accounts for operators', () => operatorTests(test))
    describe('passwords', () => passwordTests(test))
    describe('addresses', () => addressTests(test))
    describe('sessions', () => sessionTests(test))
    describe('sessions and their dates', () => sessionViewTests(test))
    describe('the end of sessions', () => endOfSessionTests(test))
    describe('news of ended sessions', () => endedSessionTests(test))
    describe('reset tokens', () => resetTokenTests(test))
  })
}

function userTests(test: StoreTest): void {
  test('gives an added user back by address and by id, with dates to the millisecond', async (store) => {
    const added = await addUser(store)
    assert.deepEqual(await store.findUserByEmail('ada@example.com'), added)
    assert.deepEqual(await store.findUserById(added.id), added)
    assert.equal(added.passwordHash, 'hash-0')
    assert.equal(added.raw['created_at'], new Date(NOW).toISOString())
    assert.equal(added.raw['email_verified_at'], null)
  })
  test('keeps hash, version and kept session out of the public record', async (store) => {
    const { raw } = await addUser(store)
    assert.doesNotMatch(JSON.stringify(raw), /hash|version|kept/)
    assert.deepEqual(raw, JSON.parse(JSON.stringify(raw)))
  })
  test('finds nobody for an unknown address or id', async (store) => {
    assert.equal(await store.findUserByEmail('nobody@example.com'), null)
    assert.equal(await store.findUserById('0'), null)
  })
  test('does not take one address for another that differs in an accent', async (store) => {
    await addUser(store, { email: 'jose@example.com' })
    assert.equal(await store.findUserByEmail('josé@example.com'), null)
  })
  test('adds addresses that differ in an accent or a letter that looks alike', async (store) => {
    const addresses = ['jose@x.test', 'josé@x.test', 'ix@x.test', 'ıx@x.test', 's1@x.test', 'ſ1@x.test']
    for (const [n, email] of addresses.entries()) await addUser(store, { id: `user-${n}`, email })
    for (const [n, email] of addresses.entries())
      assert.equal((await store.findUserByEmail(email))?.id, `user-${n}`)
  })
}

function accountTests(test: StoreTest): void {
  test('disables and enables an account, and ends its sessions with the same statement', async (store) => {
    const user = await addUser(store)
    await addSession(store, user)
    assert.equal(await store.setDisabled(user.id, true, NOW + 1), true)
    const disabled = await store.findUserById(user.id)
    assert.deepEqual([disabled?.isDisabled, disabled?.passwordVersion], [true, 1])
    assert.deepEqual(await store.findEndedSessions(user.id), ['session-1'])
    assert.equal(await store.insertSession(sessionFor(disabled!, 2)), false)
    assert.equal(await store.setDisabled(user.id, false, NOW + 2), true)
    assert.equal((await store.findUserById(user.id))?.isDisabled, false)
    assert.equal(await store.setDisabled('nobody', true, NOW), false)
  })
  test('disables and enables the version that was read alone', async (store) => {
    const user = await addUser(store)
    assert.equal(await store.setDisabled(user.id, true, NOW, 1), false)
    assert.equal(await store.setDisabled(user.id, true, NOW, 0), true)
    assert.equal(await store.setDisabled(user.id, true, NOW, 0), false)
    assert.equal(await store.setDisabled(user.id, false, NOW, 0), false)
    assert.equal(await store.setDisabled(user.id, false, NOW, 1), true)
    assert.equal((await store.findUserById(user.id))?.isDisabled, false)
  })
  test('deletes a disabled user of one version, once', async (store) => {
    const user = await addUser(store)
    await addUser(store, { id: '2', email: 'eve@example.com' })
    assert.equal(await store.deleteUser(user.id, 0), false)
    await store.setDisabled(user.id, true, NOW)
    assert.equal(await store.deleteUser(user.id, 0), false)
    const results = await Promise.all(range(16).map(() => store.deleteUser(user.id, 1)))
    assert.equal(results.filter(Boolean).length, 1)
    assert.equal(await store.findUserById(user.id), null)
    assert.notEqual(await store.findUserById('2'), null)
  })
  test('stores with a password that the address is proven, and keeps that', async (store) => {
    const { id: userId } = await addUser(store)
    const change = { userId, passwordHash: 'hash-1', keptSession: null, now: NOW }
    await store.setPassword({ ...change, emailVerifiedAt: NOW + 5 })
    await store.setPassword(change)
    assert.equal(
      (await store.findUserById(userId))?.raw['email_verified_at'],
      new Date(NOW + 5).toISOString(),
    )
  })
  test('lets one of 32 simultaneous additions of an address win', async (store) => {
    const results = await Promise.all(range(32).map((n) => store.insertUser({ ...ADA, id: `user-${n}` })))
    assert.equal(results.filter((user) => user !== null).length, 1)
  })
}

function passwordTests(test: StoreTest): void {
  test('stores a new password and raises the version', async (store) => {
    const { id } = await addUser(store)
    assert.equal(
      await store.setPassword({ userId: id, passwordHash: 'hash-1', keptSession: 's', now: NOW + 1 }),
      true,
    )
    const user = await store.findUserById(id)
    assert.deepEqual([user?.passwordHash, user?.passwordVersion, user?.keptSession], ['hash-1', 1, 's'])
    assert.equal(user?.raw['updated_at'], new Date(NOW + 1).toISOString())
  })
  test('refuses a new password for a user that is not there', async (store) => {
    assert.equal(
      await store.setPassword({ userId: '0', passwordHash: 'h', keptSession: null, now: NOW }),
      false,
    )
  })
  test('lets one of 16 simultaneous changes of one version win', async (store) => {
    const { id } = await addUser(store)
    const change = { userId: id, keptSession: null, now: NOW, version: 0 }
    const results = await Promise.all(
      range(16).map((n) => store.setPassword({ ...change, passwordHash: `new-${n}` })),
    )
    assert.equal(results.filter(Boolean).length, 1)
    assert.equal((await store.findUserById(id))?.passwordHash, `new-${results.indexOf(true)}`)
  })
  test('rehashes only the hash that was verified, and leaves the version', async (store) => {
    const { id } = await addUser(store)
    assert.equal(await store.rehashPassword(id, 'other', 'hash-1'), false)
    assert.equal(await store.rehashPassword(id, 'hash-0', 'hash-1'), true)
    const user = await store.findUserById(id)
    assert.deepEqual([user?.passwordHash, user?.passwordVersion], ['hash-1', 0])
  })
}

function sessionTests(test: StoreTest): void {
  test('gives an added session back by its family', async (store) => {
    const user = await addUser(store)
    const session = sessionFor(user)
    assert.equal(await store.insertSession(session), true)
    assert.deepEqual(await store.findSession(session.familyHash), session)
    assert.equal(await store.findSession('unknown'), null)
  })
  test('refuses a session of a password version that is over, or of nobody', async (store) => {
    const user = await addUser(store)
    await store.setPassword({ userId: user.id, passwordHash: 'hash-1', keptSession: null, now: NOW })
    assert.equal(await store.insertSession(sessionFor(user)), false)
    assert.equal(await store.insertSession({ ...sessionFor(user), userId: 'nobody' }), false)
  })
  test('lets one of 64 simultaneous rotations from one token win', async (store) => {
    const session = await addSession(store, await addUser(store))
    const results = await Promise.all(
      range(64).map((n) =>
        store.rotateSession({ id: session.id, from: 'token-1', to: `next-${n}`, now: NOW + 5 }),
      ),
    )
    assert.equal(results.filter(Boolean).length, 1)
    const found = await store.findSession(session.familyHash)
    const expected = {
      tokenHash: `next-${results.indexOf(true)}`,
      previousHash: 'token-1',
      rotatedAt: NOW + 5,
    }
    assert.deepEqual(found, { ...session, ...expected })
  })
}

function sessionViewTests(test: StoreTest): void {
  test('finds user and session of an access token together', async (store) => {
    const user = await addUser(store)
    const { id, passwordVersion, rotatedAt, expiresAt } = await addSession(store, user)
    const found = await store.findUserOfSession(id, user.id)
    assert.deepEqual(found?.user, user)
    for (const [name, value] of Object.entries({ id, passwordVersion, rotatedAt, expiresAt }))
      assert.equal(found?.session[name as 'id'], value)
    assert.equal(await store.findUserOfSession(id, 'nobody'), null)
    assert.equal(await store.findUserOfSession('session-9', user.id), null)
  })
  test('lists the sessions of a user, the newest first', async (store) => {
    const user = await addUser(store)
    for (const n of [2, 1, 3]) await store.insertSession({ ...sessionFor(user, n), createdAt: NOW + n })
    const ids = (await store.findSessions(user.id)).map(({ id }) => id)
    assert.deepEqual(ids, ['session-3', 'session-2', 'session-1'])
  })
  test('dates a rotation by its own clock, unless it is given a date', async (store) => {
    const session = await addSession(store, await addUser(store))
    const before = await store.now()
    await store.rotateSession({ id: session.id, from: 'token-1', to: 'next' })
    const { rotatedAt } = (await store.findSession(session.familyHash))!
    const after = await store.now()
    assert.ok(before <= rotatedAt && rotatedAt <= after, `${before} <= ${rotatedAt} <= ${after}`)
    assert.ok(Math.abs(after - Date.now()) < 60_000, 'the clock of the database is in milliseconds of UTC')
  })
  test('does not rotate a session that was deleted', async (store) => {
    const session = await addSession(store, await addUser(store))
    assert.equal(await store.deleteSession(session.id), true)
    assert.equal(await store.deleteSession(session.id), false)
    assert.equal(await store.rotateSession({ id: session.id, from: 'token-1', to: 'b', now: NOW }), false)
  })
}
