import type { Caller, OwnSession } from '../../flows/proof.ts'

/** A session as its user sees it. Dates are ISO strings. */
export interface ShownSession {
  readonly id: string
  /** True for the session of the request. */
  readonly current: boolean
  /** Browser and system, such as `Firefox on Linux`. */
  readonly device: string
  /** Address from which the session began; null for a session from before the feature. */
  readonly ip: string | null
  /** Place of the address by the option `place`; null without it. */
  readonly place: string | null
  readonly signedInAt: string
  /** The last refresh: the last use to within the lifetime of an access token. */
  readonly lastUsedAt: string
  readonly endsAt: string
}

/** The operations behind the routes of `sessions()`. Each throws Unauthorized if the caller's session is over. */
export interface OwnSessions {
  /** The active sessions, the newest first. */
  list(own: OwnSession): Promise<readonly ShownSession[]>
  /** @throws NotFound for a session that the user does not have; LimitReached. */
  end(id: string, own: OwnSession, caller: Caller): Promise<void>
  /** Ends every session but the caller's. @throws LimitReached. */
  endOthers(own: OwnSession, caller: Caller): Promise<void>
}
