import type { Caller, FactorCodes, Grant, OwnSession } from '../../flows/proof.ts'

/** Validated body of confirm. */
export interface Confirmation extends FactorCodes {
  /** Without it there is a passkey. */
  readonly password?: string | undefined
}

/** The operation behind `POST /auth/confirm`. */
export interface Confirm {
  /**
   * Replaces the caller's session by one with a new id and a new proof. Of many concurrent calls one wins.
   * @throws Unauthorized `invalid_credentials`, `second_factor_required`, `invalid_code`, `invalid_passkey`, `invalid_token` for a session that is over; LimitReached.
   */
  confirm(body: Confirmation, own: OwnSession, caller: Caller): Promise<Grant>
}
