import type { PasswordChange } from '../accounts/auth-store.ts'
import type { AuthParts } from './parts.ts'

/**
 * Stores a new password. If the reply of the database is lost, the stored hash decides: hashes are salted, so only this
 * change can have written it.
 * @returns false if the user's password version is not `version` any more.
 * @throws the error of the statement if it had no effect, or if that cannot be read.
 */
export async function storePassword({ store }: AuthParts, change: PasswordChange): Promise<boolean> {
  try {
    return await store.setPassword(change)
  } catch (error) {
    const user = await store.findUserById(change.userId)
    if (user?.passwordHash !== change.passwordHash) throw error
    return true
  }
}
