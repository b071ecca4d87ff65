import type { StoredUser } from '../accounts/auth-store.ts'
import type { AuthParts, Caller } from './parts.ts'
import type { FactorCodes } from './proof.ts'
import { METHODS } from './sessions.ts'
import { refused } from '../refusals.ts'

/**
 * Asks for the factor of a user whose password was verified again.
 * @returns the methods of the proof.
 * @throws Unauthorized `second_factor_required`, `invalid_code`, `invalid_passkey`; LimitReached.
 */
export async function proveAgain(
  parts: Pick<AuthParts, 'features'>,
  user: StoredUser,
  codes: FactorCodes,
  caller: Caller,
): Promise<readonly string[]> {
  // A passkey is more than each code, so no code is asked for besides.
  if (codes.passkey !== undefined)
    return [...METHODS, ...(await provePasskey(parts, user, codes.passkey, caller))]
  let methods = METHODS
  for (const feature of parts.features) methods = (await feature.proveAgain?.(user, codes, caller)) ?? methods
  return methods
}

/**
 * Verifies a response of a passkey of a user.
 * @returns the methods of the proof.
 * @throws Unauthorized `invalid_passkey`, also if no feature knows passkeys.
 */
export async function provePasskey(
  { features }: Pick<AuthParts, 'features'>,
  user: StoredUser,
  passkey: object,
  caller: Caller,
): Promise<readonly string[]> {
  for (const feature of features) {
    const methods = await feature.provePasskey?.(user, passkey, caller)
    if (methods !== undefined) return methods
  }
  throw refused('invalid_passkey')
}
