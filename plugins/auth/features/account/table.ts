import type { TableShape } from '../../accounts/records.ts'

/**
 * `auth_deletions`: accounts whose users have asked for their deletion, which is due at `expires_at`. A row counts while the
 * account is disabled and has this password version: enabling an account, or disabling it again, takes it away.
 */
export const DELETIONS: TableShape = {
  name: 'auth_deletions',
  key: ['user_id', 36],
  numbers: ['password_version'],
  marksDeletion: true,
}
