import type { Caller, NewAccount, OwnSession } from '../../flows/proof.ts'

/** The token of a link, and the password of its account unless the caller is signed in to it. */
export interface VerifyEmail {
  readonly token: string
  readonly password?: string | undefined
}

/** The operations behind the routes of `emailVerification()`. Addresses are in canonical form. */
export interface EmailVerification {
  /**
   * Redeems the link of an address: of the account's own, or of a new one, which replaces it and ends every session.
   * @throws Unauthorized `invalid_verification_token`, or `invalid_credentials` without the owner; Conflict `email_taken`
   * for a new address that has an account by now; LimitReached.
   */
  verify(input: VerifyEmail, own: OwnSession | null, caller: Caller): Promise<'verified' | 'changed'>
  /** Sends a link, after the response, to an address whose account has not proven it. @throws LimitReached. */
  sendLink(email: string, caller: Caller): Promise<void>
  /**
   * Sends a link to a new address and a notice to the old one, after the response.
   * @throws Unauthorized for a session that is over; ValidationFailed for the current address; LimitReached.
   */
  requestChange(email: string, own: OwnSession, caller: Caller): Promise<void>
  /** Creates an account without revealing if the address has one. @throws PasswordRefused, LimitReached. */
  signUp(input: NewAccount, caller: Caller): Promise<void>
}
