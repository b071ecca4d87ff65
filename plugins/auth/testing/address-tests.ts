import assert from 'node:assert/strict'
import type { EmailChange } from '../accounts/auth-store.ts'
import { ADA, addUser, NOW, range, type StoreTest } from './store-fixtures.ts'

const NEXT = 'next@example.com'

const changeOf = (userId: string, changes: Partial<EmailChange> = {}): EmailChange => ({
  userId,
  from: ADA.email,
  to: NEXT,
  version: 0,
  now: NOW + 1,
  endsSessions: true,
  ...changes,
})

/** The tests of `setEmail`. */
export function addressTests(test: StoreTest): void {
  test('marks an address as proven, and leaves the version', async (store) => {
    const { id } = await addUser(store)
    assert.equal(await store.setEmail(changeOf(id, { to: ADA.email, endsSessions: false })), 'changed')
    const user = await store.findUserById(id)
    assert.equal(user?.raw['email_verified_at'], new Date(NOW + 1).toISOString())
    assert.deepEqual([user?.email, user?.passwordVersion], [ADA.email, 0])
  })
  test('replaces an address by a proven one, and raises the version in the same statement', async (store) => {
    const { id } = await addUser(store)
    assert.equal(await store.setEmail(changeOf(id)), 'changed')
    const user = await store.findUserByEmail(NEXT)
    assert.equal(user?.raw['email_verified_at'], new Date(NOW + 1).toISOString())
    assert.deepEqual([user?.id, user?.passwordVersion], [id, 1])
    assert.equal(await store.findUserByEmail(ADA.email), null)
  })
  test('changes nothing for another address, another version, a disabled account and an unknown user', async (store) => {
    const { id } = await addUser(store)
    assert.equal(await store.setEmail(changeOf(id, { from: 'ADA@example.com' })), 'over')
    assert.equal(await store.setEmail(changeOf(id, { version: 1 })), 'over')
    assert.equal(await store.setEmail(changeOf('nobody')), 'over')
    await store.setDisabled(id, true, NOW)
    assert.equal(await store.setEmail(changeOf(id, { version: 1 })), 'over')
    assert.equal((await store.findUserById(id))?.email, ADA.email)
  })
  test('reports an address that another account has', async (store) => {
    const { id } = await addUser(store)
    await addUser(store, { id: '00000000-0000-4000-8000-000000000002', email: NEXT })
    assert.equal(await store.setEmail(changeOf(id)), 'taken')
    assert.equal((await store.findUserById(id))?.email, ADA.email)
  })
  test('lets one of 32 simultaneous changes win', async (store) => {
    const { id } = await addUser(store)
    const results = await Promise.all(
      range(32).map((n) => store.setEmail(changeOf(id, { to: `next-${n}@example.com` }))),
    )
    assert.equal(results.filter((result) => result === 'changed').length, 1)
    const user = await store.findUserById(id)
    assert.equal(user?.email, `next-${results.indexOf('changed')}@example.com`)
    assert.equal(user?.passwordVersion, 1)
  })
}
