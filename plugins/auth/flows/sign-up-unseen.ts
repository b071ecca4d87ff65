import { isHttpError } from 'mortar/kit'
import type { SignUpTold } from '../features/feature.ts'
import { hashNewPassword, insertHashed } from './create-user.ts'
import { NOBODY } from './forgot-password.ts'
import { withEvent, withFailureEvent, type Attempt } from './outcome.ts'
import { countedHashing, type AuthParts, type Caller } from './parts.ts'
import type { NewAccount } from './proof.ts'

/**
 * Accepts a signup whose response does not reveal if the address has an account (ASVS 6.3.8). Before the response every
 * address causes the same work: the limits, the hash, and a look-up that fails as the real one would. The insertion
 * follows at a random delay.
 * @throws PasswordRefused, LimitReached.
 */
export async function signUpUnseen(
  parts: AuthParts,
  input: NewAccount,
  caller: Caller,
  told: SignUpTold,
): Promise<void> {
  const { email } = input
  const attempt: Attempt = { flow: 'signup', caller, known: { email } }
  const passwordHash = await withFailureEvent(parts, attempt, () =>
    countedHashing(parts, caller, { rule: 'signup', counted: { email } }, async () => {
      await parts.store.findUserByEmail(NOBODY)
      return hashNewPassword(parts, input)
    }),
  )
  parts.mails.later(() => finish(parts, { input, passwordHash, attempt, told }))
}

interface Accepted {
  readonly input: NewAccount
  readonly passwordHash: string
  readonly attempt: Attempt
  readonly told: SignUpTold
}

async function finish(parts: AuthParts, { input, passwordHash, attempt, told }: Accepted): Promise<void> {
  const user = await withEvent(parts, attempt, async () => {
    const created = await insertHashed(parts, input, passwordHash)
    attempt.known.userId = created.id
    return created
  }).catch(unlessTaken)
  if (user !== null) return told.created(user)
  const owner = await parts.store.findUserByEmail(input.email)
  if (owner !== null) await told.taken(owner)
}

function unlessTaken(error: unknown): null {
  if (isHttpError(error) && error.code === 'email_taken') return null
  throw error
}
