import type { TableShape } from '../../accounts/records.ts'

/** `auth_accounts`: accounts of other providers that sign a user in. The key is a hash of issuer and subject. */
export const ACCOUNTS: TableShape = {
  name: 'auth_accounts',
  key: ['id', 64],
  texts: { provider: 40, issuer: 255, subject: 255, email: 254 },
  numbers: ['last_used_at'],
  shown: ['id', 'provider', 'issuer', 'subject', 'email', 'last_used_at'],
}
