import type { StoredUser } from '../accounts/auth-store.ts'
import { hasProvenEmail } from '../accounts/proven-email.ts'
import type { FeatureKit } from './feature.ts'

/**
 * Points of a feature that forgets something of a user with the first proof of the address: whoever has registered the
 * address of somebody else must neither stay in the account nor lock its owner out.
 */
export function forgetBeforeProof({ users }: FeatureKit, forget: (user: StoredUser) => Promise<unknown>) {
  return {
    addressProving: forget,
    async passwordChanged(before: StoredUser) {
      const user = await users.findUserById(before.id)
      // A reset has proven the address.
      if (user !== null && hasProvenEmail(user) && !hasProvenEmail(before)) await forget(user)
    },
  }
}
