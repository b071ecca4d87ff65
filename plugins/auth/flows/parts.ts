import type { Clock, EventBus, Logger, AuthStore } from '../../../src/index.ts'
import type { AccessTokens } from '../access-tokens.ts'
import type { EndedSessions } from '../ended-sessions.ts'
import type { AuthEvents } from '../events.ts'
import type { Passwords } from '../passwords.ts'
import { LimitReached, type LimitRule, type RateLimits } from '../rate-limits.ts'
import type { RefreshTokens } from '../refresh-tokens.ts'
import type { ResetTokens } from '../reset-tokens.ts'

/** What the flows are made of; none of it knows HTTP, and only the store knows a database. */
export interface AuthParts {
  readonly store: AuthStore
  readonly passwords: Passwords
  readonly accessTokens: AccessTokens
  readonly refreshTokens: RefreshTokens
  readonly resetTokens: ResetTokens
  readonly endedSessions: EndedSessions
  readonly limits: RateLimits
  readonly events: EventBus<AuthEvents>
  readonly clock: Clock
  readonly logger: Logger
  readonly lifetimes: Lifetimes
  /** Brings a reset token to its owner. */
  readonly sendResetMail: (to: string, token: string) => Promise<unknown>
}

/** Lifetimes in seconds. */
export interface Lifetimes {
  /** Of a session, from its login; rotation does not prolong it. */
  readonly session: number
  readonly resetToken: number
  /** How long the immediate predecessor of a refresh token still gets the present one. */
  readonly grace: number
}

/** Who asks, as far as a flow needs to know: the `ctx` of the request is one. */
export interface Caller {
  readonly id: string
  readonly ip: string
  set(name: string, value: string): void
}

/** What every event says about the request. */
export function eventOrigin({ id, ip }: Caller): { readonly ip: string; readonly requestId: string } {
  return { ip, requestId: id }
}

const LIMITED = {
  login: 'auth.login.limited',
  signup: 'auth.signup.limited',
  forgot: 'auth.password.reset.request.limited',
  reset: 'auth.password.reset.limited',
  refresh: 'auth.token.limited',
  changePassword: 'auth.password.change.limited',
} as const satisfies Record<LimitRule, keyof AuthEvents>

/** Whom an attempt is counted against, besides the client's address. */
export interface Counted {
  readonly email?: string
  readonly user?: string
  readonly session?: string
}

/**
 * Counts an attempt before any work is done for it, and tells the caller where the limits stand.
 * @throws LimitReached (429) beyond a limit.
 */
export async function countAttempt(
  parts: AuthParts,
  caller: Caller,
  rule: LimitRule,
  counted: Counted,
): Promise<void> {
  try {
    const { headers } = await parts.limits.attempt(rule, { ip: caller.ip, ...counted })
    for (const [name, value] of Object.entries(headers)) caller.set(name, value)
  } catch (error) {
    if (error instanceof LimitReached) {
      const { email, user } = counted
      const about = { ...(email !== undefined && { email }), ...(user !== undefined && { userId: user }) }
      parts.events.emit(LIMITED[rule], { ...eventOrigin(caller), scope: error.scope, ...about })
    }
    throw error
  }
}
