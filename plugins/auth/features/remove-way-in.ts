import type { StoredUser } from '../accounts/auth-store.ts'
import type { RecordRow, Records } from '../accounts/records.ts'
import { removeRow } from '../flows/lost-reply.ts'
import { refused } from '../refusals.ts'
import type { FeatureKit } from './feature.ts'

/**
 * Removes a row that signs a user in. Ways in are counted after the deletion, so that of two simultaneous ones the later
 * sees what the earlier has left. The last way in is restored, and so is one if the others cannot be counted.
 * @returns false if the user has no such row.
 * @throws Conflict `last_way_in`.
 */
export async function removeWayIn(
  { waysIn, users }: Pick<FeatureKit, 'waysIn' | 'users'>,
  records: Records,
  { user, row }: { readonly user: StoredUser; readonly row: RecordRow },
): Promise<boolean> {
  const own = { id: row['id'] ?? null, user_id: user.id }
  if (!(await removeRow(records, own))) return false
  try {
    if ((await waysIn(user)) > 0) return true
    throw refused('last_way_in')
  } catch (error) {
    await records.insert(row)
    // A reset forgets the rows that it sees.
    const now = await users.findUserById(user.id)
    if (now?.passwordVersion !== user.passwordVersion) await records.remove(own)
    throw error
  }
}
