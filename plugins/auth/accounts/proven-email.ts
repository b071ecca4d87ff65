import type { StoredUser } from './auth-store.ts'

/** True if the owner of an account has proven its address. */
export function hasProvenEmail({ raw }: Pick<StoredUser, 'raw'>): boolean {
  return typeof raw['email_verified_at'] === 'string'
}
