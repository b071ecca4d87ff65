import { SecondFactorRequired } from '../errors.ts'
import type { StoredUser } from '../accounts/auth-store.ts'
import { withEvent, type Known } from './outcome.ts'
import { countedHashing, eventOrigin, subjectOf, type AuthParts, type Caller } from './parts.ts'
import { admit, type SessionRequest } from './admit.ts'
import type { Grant } from './proof.ts'
import { refused } from '../refusals.ts'

/** Validated input of login; `email` in canonical form. */
export interface LogIn {
  readonly email: string
  readonly password: string
  /** Value of the device cookie, if the browser sent one. */
  readonly device?: string | null
}

/**
 * Signs a user in. An address without an account takes the same path and the same hash computation as a wrong password.
 * The browser's previous session ends (ASVS 7.2.4).
 * @throws Unauthorized `invalid_credentials`, LimitReached.
 */
export function logIn(
  parts: AuthParts,
  input: LogIn,
  caller: Caller,
  presented: string | null,
): Promise<Grant> {
  const { email } = input
  const known: Known = { email }
  const counted = { email, device: parts.devices.verify(input.device ?? null, email) }
  return withEvent(parts, { flow: 'login', caller, known }, () =>
    countedHashing(parts, caller, { rule: 'login', counted }, async () => {
      const attempt = { caller, presented, known, device: counted.device }
      const { user, grant, rehash } = await verify(parts, input, attempt)
      await parts.limits.success('login', subjectOf(caller, counted))
      if (rehash) await renewHash(parts, user, input.password)
      known.sessionId = grant.sessionId
      return grant
    }),
  )
}

interface Attempt extends SessionRequest {
  readonly known: Known
  /** Identifier of a verified device mark. */
  readonly device: string | undefined
}

async function verify(parts: AuthParts, { email, password }: LogIn, attempt: Attempt) {
  const { caller, known, device } = attempt
  const user = await parts.store.findUserByEmail(email)
  if (user) known.userId = user.id
  const { valid, rehash } = await parts.passwords.verify(user?.passwordHash ?? null, password)
  const grant =
    user !== null && valid
      ? await admit(
          parts,
          { user, way: 'login', isKnownDevice: parts.devices.isCurrent(device, user) },
          attempt,
        ).catch(async (error: unknown) => {
          // The password is known only now, and the second step of the login comes without it.
          if (rehash && error instanceof SecondFactorRequired) await renewHash(parts, user, password)
          throw error
        })
      : null
  if (user !== null && grant !== null) return { user, grant, rehash }
  if (user?.passwordHash && !parts.passwords.isUsable(user.passwordHash))
    parts.events.emit('auth.password.unusable', { ...eventOrigin(caller), userId: user.id })
  throw refused('invalid_credentials')
}

/** Replaces the hash only if it is still the verified one, so that a new password is never overwritten. */
async function renewHash(parts: AuthParts, user: StoredUser, password: string): Promise<void> {
  try {
    await parts.store.rehashPassword(user.id, user.passwordHash!, await parts.passwords.hash(password))
  } catch (error) {
    // The login is valid without it, and the next login tries again.
    parts.outages.log({
      part: 'renewal of password hashes',
      error,
      message: 'A password hash could not be renewed',
      fields: { userId: user.id },
    })
  }
}
