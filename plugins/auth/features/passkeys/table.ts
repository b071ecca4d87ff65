import type { TableShape } from '../../accounts/records.ts'

/** `auth_passkeys`: public keys that sign a user in. The key is a hash of the credential id, equal under any collation. */
export const PASSKEYS: TableShape = {
  name: 'auth_passkeys',
  key: ['id', 64],
  texts: { credential_id: 1364, user_handle: 43, public_key: 1000, name: 200, aaguid: 36 },
  numbers: ['algorithm', 'counter', 'backed_up', 'last_used_at'],
  shown: ['id', 'credential_id', 'name', 'aaguid', 'backed_up', 'last_used_at'],
}
