/*
 * An access token is verified without the database, so a session that was ended must be remembered until the last
 * access token it could have has expired. Held by test/plugins/auth/primitives/ended-sessions.test.ts.
 */
import { systemClock, type Clock } from '../../src/index.ts'

/** Hosts whose clocks differ by less than this many seconds agree on what is over. */
const LEEWAY = 5
const DEFAULT_CAPACITY = 50_000

/** What an access token says about its session; `iat` in seconds since the epoch. */
export interface SessionClaims {
  readonly sid: string
  readonly iat: number
}

/** Sessions that this process ended, remembered for the lifetime of an access token. */
export interface EndedSessions {
  end(sid: string): void
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
    end(sid) {
      makeRoom()
      sessions.delete(sid)
      sessions.set(sid, until())
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
