import { NEVER, type TableShape } from '../../accounts/records.ts'

/** `auth_totp`: the authenticator of a user, with a sealed secret. It counts once `confirmed_at` is set. */
export const TOTP: TableShape = {
  name: 'auth_totp',
  key: ['user_id', 36],
  texts: { secret: 128, key_id: 16, recovery_batch: 22 },
  numbers: ['confirmed_at', 'last_step'],
  shown: ['confirmed_at'],
}

/** End of an active authenticator until every session from before has ended, and the notice to its owner is on its way. */
export const UNFINISHED = NEVER - 1

/** `auth_recovery_codes`: unused recovery codes, as hashes. A row is deleted with the use of its code. */
export const RECOVERY_CODES: TableShape = {
  name: 'auth_recovery_codes',
  key: ['code_hash', 64],
  texts: { batch: 22 },
}
