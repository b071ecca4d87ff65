import type { PasswordChange } from '../accounts/auth-store.ts'
import { despiteLostReply } from './lost-reply.ts'
import type { AuthParts } from './parts.ts'

/**
 * Stores a new password. If the reply of the database is lost, the stored hash decides: hashes are salted, so only this
 * change can have written it.
 * @returns false if the user's password version is not `version` any more.
 * @throws the error of the statement if it had no effect, or if that cannot be read.
 */
export function storePassword({ store }: AuthParts, change: PasswordChange): Promise<boolean> {
  return despiteLostReply(
    () => store.setPassword(change),
    async () => (await store.findUserById(change.userId))?.passwordHash === change.passwordHash,
  )
}
