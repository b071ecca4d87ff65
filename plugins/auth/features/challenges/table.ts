import type { TableShape } from '../../accounts/records.ts'

/** `auth_challenges`: single-use secrets of features, as hashes. A row is deleted with the use of its secret. */
export const CHALLENGES: TableShape = {
  name: 'auth_challenges',
  key: ['token_hash', 64],
  texts: { purpose: 40, data: 1000 },
  numbers: ['password_version', 'tries_left'],
  shown: ['purpose', 'data'],
}
