import { randomUUID } from 'node:crypto'
import { emailTaken, invalidCredentials } from '../errors.ts'
import { countAttempt, eventOrigin, type AuthParts, type Caller } from './parts.ts'
import { beginSession, endSessionOf, type Grant } from './sessions.ts'

/** What signup takes, validated; `email` in canonical form. */
export interface SignUp {
  readonly name: string
  readonly email: string
  readonly password: string
}

/**
 * Makes an account and signs it in. The hash is made before the address is tried, so that a taken one costs the same.
 * @throws Conflict `email_taken`; the unique index decides, so of many at once one gets the address.
 */
export async function signUp(
  parts: AuthParts,
  input: SignUp,
  caller: Caller,
  presented: string | null,
): Promise<Grant> {
  const { name, email } = input
  await countAttempt(parts, caller, 'signup', { email })
  const passwordHash = await parts.passwords.hash(input.password)
  const user = await parts.store.insertUser({
    id: randomUUID(),
    name,
    email,
    passwordHash,
    now: parts.clock.now(),
  })
  if (user === null) {
    parts.events.emit('auth.signup.failed', { ...eventOrigin(caller), email, reason: 'email_taken' })
    throw emailTaken()
  }
  const grant = await beginSession(parts, user)
  // Only a reset within these few milliseconds changes the password of an account this new.
  if (grant === null) throw invalidCredentials()
  await endSessionOf(parts, presented)
  parts.events.emit('auth.signup.succeeded', {
    ...eventOrigin(caller),
    userId: user.id,
    sessionId: grant.sessionId,
  })
  return grant
}
