import type { StoredUser } from '../accounts/auth-store.ts'
import type { AuthParts, Caller } from './parts.ts'
import type { FactorCodes } from './proof.ts'
import { METHODS } from './sessions.ts'

/**
 * Asks for the factor of a user whose password was verified again.
 * @returns the methods of the proof.
 * @throws Unauthorized `second_factor_required`, `invalid_code`; LimitReached.
 */
export async function proveAgain(
  { features }: Pick<AuthParts, 'features'>,
  user: StoredUser,
  codes: FactorCodes,
  caller: Caller,
): Promise<readonly string[]> {
  let methods = METHODS
  for (const feature of features) methods = (await feature.proveAgain?.(user, codes, caller)) ?? methods
  return methods
}
