import type { StoredUser } from '../accounts/auth-store.ts'
import type { TableShape, Where } from '../accounts/records.ts'
import { CODE } from '../flows/parts.ts'
import type { FactorChange } from '../flows/proof.ts'
import type { FeatureKit } from './feature.ts'

type Removal = 'auth.factor.removed' | 'auth.passkey.removed' | 'auth.account.unlinked'

/**
 * Creates a function that removes the rows of a user from after `since`, in milliseconds since the epoch, with the event and
 * the notice. It returns their number.
 */
export function forgetting(kit: FeatureKit, shape: TableShape, [event, change]: [Removal, FactorChange]) {
  return async (user: StoredUser, since = 0, where: Where = {}): Promise<number> => {
    const added = { user_id: user.id, created_at: { above: since }, ...where }
    const removed = await kit.records(shape).remove(added)
    if (removed === 0) return 0
    kit.events.emit(event, { userId: user.id })
    await kit.factorChanged(user, change, CODE)
    return removed
  }
}
