import { withEvent, type Known } from './outcome.ts'
import type { AuthParts, Caller } from './parts.ts'
import { endSession, endSessionOf } from './sessions.ts'

/**
 * Ends the session of the refresh token, and that of the access token if the request has one. Without either there is
 * nothing to end, and the response is the same.
 */
export function logOut(
  parts: AuthParts,
  presented: { readonly refreshToken: string | null; readonly accessToken: string | null },
  caller: Caller,
): Promise<void> {
  const known: Known = {}
  return withEvent(parts, { flow: 'logout', caller, known }, async () => {
    const session = await endSessionOf(parts, presented.refreshToken)
    const claims = parts.accessTokens.verify(presented.accessToken)
    if (session) Object.assign(known, { userId: session.userId, sessionId: session.id })
    else if (claims) Object.assign(known, { userId: claims.sub, sessionId: claims.sid })
    if (claims && claims.sid !== session?.id) await endSession(parts, claims.sid)
  })
}
