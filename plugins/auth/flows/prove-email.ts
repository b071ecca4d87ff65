import type { NewUser, StoredUser } from '../accounts/auth-store.ts'
import { hasProvenEmail } from '../accounts/proven-email.ts'
import type { AuthParts } from './parts.ts'
import { deleteUser } from './delete-user.ts'
import { clearAfterNewPassword, endAccessTokens } from './sessions.ts'

/**
 * Stores that a user has proved to own an address. The statement that stores a new address ends every session. If the
 * reply of the database is lost, the stored account decides.
 * @returns `over` if the account has changed since it was read; `taken` if another account has the address.
 */
export async function proveEmail(
  parts: AuthParts,
  user: StoredUser,
  to: string,
): Promise<'changed' | 'over' | 'taken'> {
  const { id: userId, email: from, passwordVersion: version } = user
  const endsSessions = to !== from
  if (endsSessions) {
    // Before the sessions end: the unique index decides, and this spares the sessions in all but a race.
    if ((await parts.store.findUserByEmail(to)) !== null || (await isKept(parts, to, userId))) return 'taken'
    for (const feature of parts.features) await feature.addressChanging?.(user)
    await endAccessTokens(parts, userId, version)
  }
  const change = { userId, from, to, version, now: parts.clock.now(), endsSessions }
  const result = await parts.store.setEmail(change).catch(async (error: unknown) => {
    const stored = await parts.store.findUserById(userId)
    if (stored?.email !== to || !hasProvenEmail(stored)) throw error
    return 'changed' as const
  })
  if (result === 'changed' && endsSessions) await clearAfterNewPassword(parts, userId)
  return result
}

/** True if an address is kept for another user, who may take it back. */
async function isKept({ features }: AuthParts, email: string, userId?: string): Promise<boolean> {
  for (const feature of features) {
    const keeper = await feature.keeperOf?.(email)
    if (keeper !== undefined && keeper !== userId) return true
  }
  return false
}

/** Adds a user. @returns null when the address is taken, or kept for another user. */
export async function insertUser(parts: AuthParts, user: NewUser): Promise<StoredUser | null> {
  if (await isKept(parts, user.email)) return null
  const stored = await parts.store.insertUser(user)
  // Again, because its owner may have lost the address in between: it is kept before it is free.
  if (stored === null || !(await isKept(parts, user.email))) return stored
  await deleteUser(parts, user.id)
  return null
}
