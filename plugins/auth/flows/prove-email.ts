import type { StoredUser } from '../accounts/auth-store.ts'
import { hasProvenEmail } from '../accounts/proven-email.ts'
import type { AuthParts } from './parts.ts'
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
    if ((await parts.store.findUserByEmail(to)) !== null) return 'taken'
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
