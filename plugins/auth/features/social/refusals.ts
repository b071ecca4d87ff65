import { HttpError } from 'mortar'

/** Refusals of `social()` with their texts; `../../problems.ts` has their titles. */
const SOCIAL = {
  unknown_provider: [404, 'There is no such provider.'],
  unknown_account: [404, 'You have no such account.'],
  account_exists: [
    409,
    'An account with this e-mail address exists already. Log in, then link the other account.',
  ],
  account_linked_elsewhere: [409, 'This account of the provider signs somebody else in.'],
  email_missing: [409, 'The provider shows no e-mail address.'],
  no_account: [409, 'There is no account for this sign-in.'],
  sign_in_again: [409, 'Another sign-in of this account is on its way. Sign in again.'],
  sign_in_expired: [401, 'This browser has not begun this sign-in, or it took too long. Sign in again.'],
  sign_in_failed: [401, 'The sign-in at the provider has failed.'],
  sign_in_refused: [401, 'This account cannot sign in.'],
  access_denied: [401, 'The provider has not confirmed the sign-in.'],
  provider_unavailable: [502, 'The provider does not respond. Try again shortly.'],
} as const satisfies Readonly<Record<string, readonly [status: number, detail: string]>>

/** A refusal of `social()`. */
export function accountRefused(code: keyof typeof SOCIAL, cause?: unknown): HttpError {
  const [status, detail] = SOCIAL[code]
  return new HttpError(status, detail, { code, ...(cause !== undefined && { cause }) })
}
