/*
 * An access token is verified without the database, so a session that was ended must be remembered until the last
 * access token it could have has expired. Held by test/plugins/auth/sessions/ended-sessions.test.ts.
 */
import { systemClock, type Clock } from '../../../src/index.ts'

/**
 * Seconds that a session is remembered beyond the lifetime of an access token: the clocks of the process that issued the
 * token and of the one that clears the table may be a minute ahead, and those of the process that ended the session and
 * of the one that reads the token a minute behind.
 */
const LEEWAY = 240
/** Some 25 MB; all processes together fill it. */
const DEFAULT_CAPACITY = 250_000

/** What an access token says about its session; `iat` in seconds since the epoch. */
export interface SessionClaims {
  readonly sid: string
  readonly iat: number
}

/** Sessions that ended, in this process or another, remembered for the lifetime of an access token. */
export interface EndedSessions {
  /** When the last access token of a session that ends now has expired, in milliseconds since the epoch. */
  expiry(): number
  /** True for a session that is remembered by its id. */
  has(sid: string): boolean
  /** Remembers a session as ended; `expires` is the moment after which it no longer matters, a lifetime from now by default. */
  end(sid: string, expires?: number): void
  isEnded(claims: SessionClaims): boolean
  /** How many sessions are remembered. */
  readonly size: number
}

/** Settings of `createEndedSessions`. */
export interface EndedSessionsOptions {
  /** Lifetime of an access token in seconds. */
  readonly lifetime: number
  readonly clock?: Clock
  /** How many sessions are remembered one by one. */
  readonly capacity?: number
}

/**
 * Remembers ended sessions in memory. When more are ended within a lifetime than there is room for, the list gives way
 * to one rule: access tokens issued until now are over, whosoever they are. Living sessions then refresh once; an
 * ended one cannot.
 */
export function createEndedSessions(options: EndedSessionsOptions): EndedSessions {
  const { lifetime, clock = systemClock, capacity = DEFAULT_CAPACITY } = options
  /** Until when, by id; in the order of their end, because each is remembered equally long. */
  const sessions = new Map<string, number>()
  let floor = { second: -1, until: 0 }
  const until = (): number => clock.now() + (lifetime + LEEWAY) * 1000

  function makeRoom(): void {
    for (const [sid, end] of sessions) {
      if (end > clock.now()) break
      sessions.delete(sid)
    }
    if (sessions.size < capacity) return
    sessions.clear()
    floor = { second: Math.floor(clock.now() / 1000), until: until() }
  }

  return {
    expiry: until,
    has: (sid) => (sessions.get(sid) ?? 0) > clock.now(),
    end(sid, expires = until()) {
      if (sessions.get(sid) === expires) return
      makeRoom()
      sessions.delete(sid)
      sessions.set(sid, expires)
    },
    isEnded({ sid, iat }) {
      const now = clock.now()
      return (iat <= floor.second && now < floor.until) || (sessions.get(sid) ?? 0) > now
    },
    get size() {
      return sessions.size
    },
  }
}
