import type { OwnSession } from '../../flows/change-password.ts'
import type { Caller, Grant } from '../../flows/proof.ts'

/** The operation behind `POST /auth/confirm`. */
export interface Confirm {
  /**
   * Replaces the caller's session by one with a new id and a new proof. Of many concurrent calls one wins.
   * @throws Unauthorized `invalid_credentials`, `invalid_token` for a session that is over; LimitReached.
   */
  confirm(password: string, own: OwnSession, caller: Caller): Promise<Grant>
}
