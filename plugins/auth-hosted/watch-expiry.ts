import type { Authenticator, Clock } from 'mortar'

/** The longest delay of a timer of Node. */
const LONGEST = 2 ** 31 - 1

/**
 * Ends a long response when its token is valid no more, so many milliseconds after its expiry as a request is accepted:
 * nothing else is known of a session that another server keeps.
 */
export function watchExpiry(clock: Clock, tolerance: number): NonNullable<Authenticator['watch']> {
  return ({ token }, _request, onEnd) => {
    const remaining = expiryOf(token) + tolerance - clock.now()
    const timer = setTimeout(onEnd, Math.min(Math.max(0, remaining), LONGEST))
    timer.unref()
    return () => clearTimeout(timer)
  }
}

/** Milliseconds since the epoch. `identify` has verified the token and requires the claim. */
function expiryOf(token: string): number {
  const payload = JSON.parse(Buffer.from(token.split('.')[1]!, 'base64url').toString()) as { exp: number }
  return payload.exp * 1000
}
