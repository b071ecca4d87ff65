import { CODE, countedHashing, subjectOf, type AuthParts } from './parts.ts'

/**
 * Verifies a password of a user for code of the application. Failures count with those of change-password, so that no
 * route becomes a way to guess. An unknown user costs the same time.
 * @returns false for a wrong password, a disabled and an unknown user, and an account without a password.
 * @throws LimitReached, ServiceUnavailable if too many hashes wait.
 */
export function verifyPassword(parts: AuthParts, userId: string, password: string): Promise<boolean> {
  const counted = { user: userId }
  return countedHashing(parts, CODE, { rule: 'changePassword', counted }, async () => {
    const user = await parts.store.findUserById(userId)
    const { valid } = await parts.passwords.verify(user?.passwordHash ?? null, password)
    const isRight = valid && user !== null && !user.isDisabled
    if (isRight) await parts.limits.success('changePassword', subjectOf(CODE, counted))
    return isRight
  })
}
