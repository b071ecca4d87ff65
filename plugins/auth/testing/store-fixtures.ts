import assert from 'node:assert/strict'
import type { AuthStore, NewUser, StoredSession, StoredUser } from '../accounts/auth-store.ts'

/** The time of most cases, with milliseconds that a coarse column would lose. */
export const NOW = Date.UTC(2030, 0, 1, 12, 0, 0, 123)
/** A day in milliseconds. */
export const DAY = 86_400_000

/** The user of most cases. */
export const ADA: NewUser = {
  id: '00000000-0000-4000-8000-000000000001',
  name: 'Ada',
  email: 'ada@example.com',
  passwordHash: 'hash-0',
  now: NOW,
}

/** Adds Ada, with these changes. */
export async function addUser(store: AuthStore, changes: Partial<NewUser> = {}): Promise<StoredUser> {
  const user = await store.insertUser({ ...ADA, ...changes })
  assert.ok(user, 'the user is added')
  return user
}

/** The nth session of a user, not added yet. */
export function sessionFor(user: StoredUser, n = 1): StoredSession {
  return {
    id: `session-${n}`,
    userId: user.id,
    passwordVersion: user.passwordVersion,
    familyHash: `family-${n}`,
    tokenHash: `token-${n}`,
    previousHash: null,
    createdAt: NOW,
    rotatedAt: NOW,
    expiresAt: NOW + 30 * DAY,
  }
}

/** Adds the nth session of a user. */
export async function addSession(store: AuthStore, user: StoredUser, n = 1): Promise<StoredSession> {
  const session = sessionFor(user, n)
  assert.equal(await store.insertSession(session), true)
  return session
}

/** Lists which of the first five sessions exist. */
export async function familiesLeft(store: AuthStore): Promise<number[]> {
  const found = await Promise.all(range(5).map((n) => store.findSession(`family-${n}`)))
  return range(5).filter((n) => found[n] !== null)
}

/** The numbers from 0 to `count` exclusive. */
export function range(count: number): number[] {
  return Array.from({ length: count }, (_, index) => index)
}

/** Registers a test that gets an empty store. */
export type StoreTest = (title: string, body: (store: AuthStore) => Promise<void>) => unknown
