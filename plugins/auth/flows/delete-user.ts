import type { StoredUser } from '../accounts/auth-store.ts'
import { despiteLostReply } from './lost-reply.ts'
import type { AuthParts } from './parts.ts'
import { clearAfterNewPassword, clearSessions, disableUser, endAccessTokens } from './sessions.ts'

/**
 * Deletes an account with all of its rows. A call that failed may be repeated, also when the account is gone already.
 * @returns false for an unknown user.
 * @throws errors of the database, and of a feature that refuses.
 */
export async function deleteUser(parts: AuthParts, userId: string): Promise<boolean> {
  for (;;) {
    const user = await parts.store.findUserById(userId)
    if (user === null) return (await clearUser(parts, userId), false)
    if (!user.isDisabled) await disableUser(parts, userId)
    else if (await eraseUser(parts, user)) return true
  }
}

/**
 * Deletes a disabled account with all of its rows. One statement decides: an account that somebody enables meanwhile loses
 * nothing.
 * @returns false if the account was enabled or deleted since it was read.
 */
export async function eraseUser(parts: AuthParts, user: StoredUser): Promise<boolean> {
  const { id: userId, passwordVersion: version } = user
  for (const feature of parts.features) await feature.deleting?.(user)
  await endAccessTokens(parts, userId, version)
  const isDeleted = await despiteLostReply(
    () => parts.store.deleteUser(userId, version),
    async () => (await parts.store.findUserById(userId)) === null,
  )
  if (!isDeleted) return false
  // Before the clean-up: if that fails and is repeated, there is no user any more.
  parts.events.emit('auth.user.deleted', { userId })
  await clearUser(parts, userId)
  return true
}

/** Deletes the rows of a user who is gone. A relational database has done it with the user; documents have no cascade. */
export async function clearUser(parts: AuthParts, userId: string): Promise<void> {
  await clearSessions(parts, userId)
  await parts.store.deleteResetTokens(userId)
  const marksLast = parts.tables.toSorted(
    (a, b) => Number(a.shape.marksDeletion ?? false) - Number(b.shape.marksDeletion ?? false),
  )
  for (const { records } of marksLast) await records.remove({ user_id: userId })
}

/**
 * Disables the account that was read, unless it has changed since. If the reply of the database is lost, the stored account
 * decides.
 * @returns false if it has changed.
 */
export async function disableRead(
  parts: AuthParts,
  { id, passwordVersion: version }: StoredUser,
): Promise<boolean> {
  await endAccessTokens(parts, id, version)
  const isDone = await despiteLostReply(
    () => parts.store.setDisabled(id, true, parts.clock.now(), version),
    async () => {
      const now = await parts.store.findUserById(id)
      return now?.isDisabled === true && now.passwordVersion === version + 1
    },
  )
  if (isDone) await clearAfterNewPassword(parts, id)
  return isDone
}

/**
 * Removes what signs a user in, or asks for more, and was added after `since`; without it, everything.
 * @returns false if there was nothing.
 */
export async function forgetAdded(
  { features }: Pick<AuthParts, 'features'>,
  user: StoredUser,
  since?: number,
): Promise<boolean> {
  let removed = 0
  for (const feature of features) removed += (await feature.forget?.(user, since)) ?? 0
  return removed > 0
}
