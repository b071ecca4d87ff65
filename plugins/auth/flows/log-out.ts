import { eventOrigin, type AuthParts, type Caller } from './parts.ts'
import { endSession, endSessionOf } from './sessions.ts'

/**
 * Ends the session of the refresh token, and that of the access token if one was sent along. Without either there is
 * nothing to end, and the caller is told the same.
 */
export async function logOut(
  parts: AuthParts,
  presented: { readonly refreshToken: string | null; readonly accessToken: string | null },
  caller: Caller,
): Promise<void> {
  const session = await endSessionOf(parts, presented.refreshToken)
  const claims = parts.accessTokens.verify(presented.accessToken)
  if (claims && claims.sid !== session?.id) await endSession(parts, claims.sid)
  const sessionId = session?.id ?? claims?.sid
  const userId = session?.userId ?? claims?.sub
  const about = { ...(userId !== undefined && { userId }), ...(sessionId !== undefined && { sessionId }) }
  parts.events.emit('auth.logout', { ...eventOrigin(caller), ...about })
}
