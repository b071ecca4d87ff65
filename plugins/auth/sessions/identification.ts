import { randomUUID } from 'node:crypto'
import type { User, UserSession } from 'mortar'
import { userOf } from '../accounts/signed-in-user.ts'
import type { ConnectedPasswordProvider } from '../connected-password-provider.ts'
import type { AuthFlows } from '../flows/flows.ts'
import type { AuthParts } from '../flows/parts.ts'
import { METHODS } from '../flows/sessions.ts'
import type { AccessClaims } from '../tokens/access-tokens.ts'
import { createFreshSessions } from './fresh-session.ts'
import { createRedeemedTickets } from './redeemed-tickets.ts'
import type { SessionNews } from './session-news.ts'
import { createSessionWatch } from './session-watch.ts'
import type { RedeemTicket } from './ticket-owner.ts'

/** Settings of `createIdentification`. */
export interface IdentificationOptions {
  readonly parts: AuthParts
  readonly flows: AuthFlows
  readonly news: SessionNews
  /** The option `freshSession`. */
  readonly isFresh: boolean
  readonly redeemTicket: RedeemTicket | undefined
}

/** Creates the functions of a provider that know whose credential a request has, and when it ends. */
export function createIdentification({
  parts,
  flows,
  news,
  isFresh,
  redeemTicket,
}: IdentificationOptions): Pick<ConnectedPasswordProvider, 'identify' | 'issueToken' | 'watch'> {
  const { accessTokens, endedSessions } = parts
  const fresh = createFreshSessions(parts, flows, news)
  const tickets = createRedeemedTickets({
    redeem: redeemTicket,
    identify: fresh.identify,
    expiry: () => parts.clock.now() / 1000 + parts.lifetimes.access,
  })
  const look = (claims: AccessClaims) =>
    news.whenCurrent(() => {
      const isEnded = endedSessions.isEnded(claims.sid)
      const found = (isOver: boolean) => (isOver ? null : userOf(claims))
      return typeof isEnded === 'boolean' ? found(isEnded) : isEnded.then(found)
    })
  const lookUp = isFresh ? fresh.identify : look
  const issue = ({ id, raw, session }: User) => {
    const { id: sid, authenticatedAt, methods } = session ?? newSession(parts.clock.now())
    return accessTokens.sign({ sub: id, sid, user: raw, authenticatedAt, methods }).token
  }
  const watch = createSessionWatch({
    ...parts,
    lifetime: parts.lifetimes.access,
    isActive: async ({ sid, sub }) => (await flows.findOwner(sid, sub)) !== null,
  })
  return {
    identify(credential, request) {
      const claims = accessTokens.verify(credential.token)
      return claims ? lookUp(claims) : tickets.identify(credential, request)
    },
    issueToken: isFresh ? fresh.issueToken : issue,
    watch: (credential, _request, onEnd) =>
      watch(accessTokens.verify(credential.token) ?? tickets.sessionOf(credential), onEnd),
  }
}

/** The session of a token for a test, which no database knows. */
function newSession(now: number): UserSession {
  return { id: randomUUID(), authenticatedAt: now, methods: METHODS }
}
