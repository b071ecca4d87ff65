import { randomUUID } from 'node:crypto'
import { emailTaken, invalidCredentials } from '../errors.ts'
import { withEvent, type Known } from './outcome.ts'
import { countedWork, refuseWeak, type AuthParts, type Caller } from './parts.ts'
import { beginSession, endSessionOf, type Grant } from './sessions.ts'

/** Validated input of signup; `email` in canonical form. */
export interface SignUp {
  readonly name: string
  readonly email: string
  readonly password: string
}

/**
 * Creates an account and signs it in. The password is hashed before the address is inserted, so that a taken address
 * costs the same time. The unique index decides: one of many concurrent requests gets the address.
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
    countedWork(parts, caller, { rule: 'signup', counted: { email } }, async () => {
      const grant = await createAccount(parts, input)
      await endSessionOf(parts, presented)
      Object.assign(known, { userId: grant.user.id, sessionId: grant.sessionId })
      return grant
    }),
  )
}

async function createAccount(parts: AuthParts, { name, email, password }: SignUp): Promise<Grant> {
  await refuseWeak(parts, 'password', password, { name, email })
  const passwordHash = await parts.passwords.hash(password)
  const account = { id: randomUUID(), name, email, passwordHash, now: parts.clock.now() }
  const user = await parts.store.insertUser(account)
  if (user === null) throw emailTaken()
  const grant = await beginSession(parts, user)
  // Only a reset within these milliseconds can change the password of such a new account.
  if (grant === null) throw invalidCredentials()
  return grant
}
