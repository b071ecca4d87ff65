import { authUsers } from '@mortar/auth/basic/schema'
import { typeorm } from '@mortar/database'

export { AuthEndedSessions, AuthRefreshTokens, AuthResetTokens } from '@mortar/auth/basic/schema'

/** The framework's users with a column of our own; it appears in `user.raw`. */
export const AuthUsers = authUsers<{ role: string }>({ role: { type: String, length: 20, default: 'user' } })

/** A row of `notes`. */
export interface Note {
  id: string
  owner_id: string
  title: string
  text: string
  archived: boolean
  created_at: Date
  updated_at: Date
}

export const Notes = new typeorm.EntitySchema<Note>({
  name: 'notes',
  columns: {
    id: { type: String, length: 36, primary: true },
    // The id of a user of any provider: it may be a row of `auth_users`, or somebody known elsewhere only.
    owner_id: { type: String, length: 255 },
    title: { type: String, length: 200 },
    text: { type: 'text' },
    archived: { type: Boolean, default: false },
    created_at: { type: Date, precision: 3 },
    updated_at: { type: Date, precision: 3 },
  },
  // The list: its conditions first, then its order, so that no row is sorted and the count reads no row.
  indices: [{ columns: ['owner_id', 'archived', 'created_at', 'id'] }],
})
