import { Conflict } from 'mortar'

/** 409 of a set-up for an account whose authenticator is active. */
export function totpExists(): Conflict {
  return new Conflict('An authenticator is active already. Remove it first.', { code: 'totp_exists' })
}

/** 409 of a request that needs an authenticator, or a set-up that has not expired. */
export function totpMissing(): Conflict {
  return new Conflict('There is no authenticator, or its set-up has expired.', { code: 'totp_missing' })
}
