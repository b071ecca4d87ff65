import type { User } from 'mortar'
import { userOf } from '../accounts/signed-in-user.ts'
import type { AuthFlows } from '../flows/flows.ts'
import type { AuthParts } from '../flows/parts.ts'
import { admit } from '../flows/admit.ts'
import type { AccessClaims } from '../tokens/access-tokens.ts'
import type { SessionNews } from './session-news.ts'

/** The option `freshSession`: each request reads the session from the database. */
export type FreshSessions = ReturnType<typeof createFreshSessions>

/** Creates the operations for one application. */
export function createFreshSessions(
  parts: AuthParts,
  flows: Pick<AuthFlows, 'findOwner'>,
  news: Pick<SessionNews, 'isUnknown'>,
) {
  return {
    /** The user of an access token, as stored now; null if the session is over. */
    async identify(claims: Pick<AccessClaims, 'sub' | 'sid' | 'session'>) {
      const { sid, sub } = claims
      const { endedSessions, store } = parts
      if (endedSessions.has(sid)) return null
      // A process can stop between the two statements that end a session. A current and complete list names such a session.
      const ended = (news.isUnknown() || !endedSessions.isComplete()) && store.hasEnded(sid)
      const [user, hasEnded] = await Promise.all([flows.findOwner(sid, sub), ended])
      return user && !hasEnded ? userOf({ sub: user.id, user: user.raw, session: claims.session }) : null
    },
    /** Begins a session of a user and returns its access token, since a token without a session identifies nobody. */
    async issueToken({ id }: User) {
      const user = await parts.store.findUserById(id)
      const grant = user && (await admit(parts, { user, way: 'issued' }))
      if (!grant)
        throw new Error('freshSession: a token can be issued only for a stored user who is not disabled.')
      return grant.accessToken
    },
  }
}
