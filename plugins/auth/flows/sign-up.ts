import { insertAccount } from './create-user.ts'
import { admit, type SessionRequest } from './admit.ts'
import { withEvent, type Known } from './outcome.ts'
import { countedHashing, type AuthParts, type Caller } from './parts.ts'
import type { Grant, NewAccount } from './proof.ts'
import { refused } from '../refusals.ts'

/** Validated input of signup; `email` in canonical form. */
export type SignUp = NewAccount

/**
 * Creates an account and signs it in. The unique index decides: one of many concurrent requests gets the address.
 * @throws Conflict `email_taken`, PasswordRefused, LimitReached.
 */
export function signUp(
  parts: AuthParts,
  input: SignUp,
  caller: Caller,
  presented: string | null,
): Promise<Grant> {
  const { email } = input
  const known: Known = { email }
  return withEvent(parts, { flow: 'signup', caller, known }, () =>
    countedHashing(parts, caller, { rule: 'signup', counted: { email } }, async () => {
      const grant = await createAccount(parts, input, { caller, presented })
      Object.assign(known, { userId: grant.user.id, sessionId: grant.sessionId })
      return grant
    }),
  )
}

async function createAccount(parts: AuthParts, input: SignUp, request: SessionRequest): Promise<Grant> {
  const user = await insertAccount(parts, input)
  const grant = await admit(parts, { user, way: 'signup' }, request)
  // Only a reset within these milliseconds can change the password of such a new account.
  if (grant === null) throw refused('invalid_credentials')
  return grant
}
