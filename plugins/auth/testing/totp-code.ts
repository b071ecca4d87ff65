import type { Clock } from 'mortar'
import { codeAt, stepAt } from '../features/totp/one-time-code.ts'

/**
 * Returns the code that an authenticator shows, for a test. Each code works once, so advance the clock by 30 seconds
 * before the next.
 * @param secret of `POST /auth/totp`
 */
export function totpCode(secret: string, clock: Clock = Date): string {
  return codeAt(secret, stepAt(clock.now()))
}
