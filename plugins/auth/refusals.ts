import type { HttpError } from 'mortar'
import { problemErrors, type ProblemErrorOptions } from 'mortar/kit'
import { PROBLEMS } from './problems.ts'

/** Details of the refusals; `problems.ts` has the statuses and titles. */
const DETAILS = {
  invalid_credentials: 'The e-mail address or the password is wrong.',
  password_changed: 'The password was changed. Log in with the new password.',
  invalid_reset_token: 'The reset token is not valid; ask for a new one.',
  invalid_verification_token: 'The link is not valid; ask for a new one.',
  invalid_link: 'The link is not valid: it was used, or its time is over.',
  email_unverified: 'Confirm your e-mail address first.',
  email_taken: 'An account with this e-mail address exists already.',
  reauthentication_required: 'Confirm your password to do this.',
  factor_required: 'This needs a second factor. Set one up, or confirm with its code.',
  invalid_code: 'The code is wrong, or was used before.',
  invalid_challenge: 'The sign-in took too long or had too many tries. Log in again.',
  totp_exists: 'An authenticator is active already. Remove it first.',
  totp_missing: 'There is no authenticator, or its set-up has expired.',
  invalid_passkey: 'The passkey is not valid, or took too long. Try again.',
  passkey_exists: 'This passkey is in use already.',
  unknown_passkey: 'You have no such passkey.',
  unknown_provider: 'There is no such provider.',
  unknown_account: 'You have no such account.',
  account_exists: 'An account with this e-mail address exists already. Log in, then link the other account.',
  account_linked_elsewhere: 'This account of the provider signs somebody else in.',
  email_missing: 'The provider shows no e-mail address.',
  no_account: 'There is no account for this sign-in.',
  sign_in_again: 'Another sign-in of this account is on its way. Sign in again.',
  last_way_in: 'It is the only way into your account. Set a password first.',
  sign_in_expired: 'This browser has not begun this sign-in, or it took too long. Sign in again.',
  sign_in_failed: 'The sign-in at the provider has failed.',
  sign_in_refused: 'This account cannot sign in.',
  access_denied: 'The provider has not confirmed the sign-in.',
  provider_unavailable: 'The provider does not respond. Try again shortly.',
} as const satisfies Partial<Record<keyof typeof PROBLEMS, string>>

/**
 * Refusals of a login and of links, with the same bytes for each reason (ASVS 6.3.8): a wrong password and an address
 * without an account; an unknown, a used and an expired token.
 */
const ALIKE: ReadonlySet<string> = new Set([
  'invalid_credentials',
  'invalid_reset_token',
  'invalid_verification_token',
  'invalid_link',
])

const problem = problemErrors(PROBLEMS)

/** Makes the error of a refusal with its status and its detail. */
export function refused(code: keyof typeof DETAILS, options: ProblemErrorOptions = {}): HttpError {
  return problem(code, DETAILS[code], { ...options, ...(ALIKE.has(code) && { instance: false }) })
}
