/*
 * An access token is verified without the database, so an ended session must be remembered until its last access token
 * has expired. Checked by test/plugins/auth/sessions/ended-sessions.test.ts.
 */
import { systemClock, type Clock } from '../../../src/index.ts'

/**
 * Seconds that a session is remembered beyond the lifetime of an access token. The clocks of the issuing process and of
 * the cleaning process may be a minute ahead; the clocks of the ending and of the reading process a minute behind.
 */
const LEEWAY = 240
/** About 25 MB; shared by the ended sessions of all processes. */
const DEFAULT_CAPACITY = 250_000

/** Claims of an access token about its session; `iat` in seconds since the epoch. */
export interface SessionClaims {
  readonly sid: string
  readonly iat: number
}

/** Sessions that ended in any process, remembered for the lifetime of an access token. */
export interface EndedSessions {
  /**
   * Milliseconds by which the store's clock is ahead of this process's; 0 while they agree. It makes records last longer
   * and never shorter, so that a process whose clock is wrong ends a session everywhere.
   */
  storeAhead: number
  /** Expiry of the last access token of a session that ends now, in milliseconds since the epoch. */
  expiry(): number
  /** True for a session whose id is remembered. */
  has(sid: string): boolean
  /** Records a session as ended. The record is needed until `expires`, by default one lifetime from now. */
  end(sid: string, expires?: number): void
  isEnded(claims: SessionClaims): boolean
  /** Calls `onEnd` when this session ends. @returns a function that stops it. */
  watch(sid: string, onEnd: () => void): () => void
  /** True while every session that ended within the last lifetime is remembered by its id. */
  isComplete(): boolean
  /** Number of remembered sessions. */
  readonly size: number
}

/** Settings of `createEndedSessions`. */
export interface EndedSessionsOptions {
  /** Lifetime of an access token in seconds. */
  readonly lifetime: number
  readonly clock?: Clock
  /** Maximum number of sessions that are remembered by id. */
  readonly capacity?: number
}

/**
 * Remembers ended sessions in memory. If more sessions end within a lifetime than the list can store, one rule replaces
 * the list: all access tokens issued until now are refused. Active sessions then refresh once; ended ones cannot.
 */
export function createEndedSessions(options: EndedSessionsOptions): EndedSessions {
  const { lifetime, clock = systemClock, capacity = DEFAULT_CAPACITY } = options
  /** Expiry by session id, in the order of their end, since each is remembered for the same time. */
  const sessions = new Map<string, number>()
  let floor = { second: -1, until: 0 }
  const watchers = new Map<string, Set<() => void>>()
  const until = (): number => clock.now() + (lifetime + LEEWAY) * 1000

  function notify(sid: string): void {
    const found = watchers.get(sid)
    watchers.delete(sid)
    for (const onEnd of found ?? []) onEnd()
  }

  function makeRoom(): void {
    for (const [sid, end] of sessions) {
      if (end > clock.now()) break
      sessions.delete(sid)
    }
    if (sessions.size < capacity) return
    sessions.clear()
    for (const sid of watchers.keys()) notify(sid)
    floor = { second: Math.floor(clock.now() / 1000), until: until() }
  }

  return {
    storeAhead: 0,
    expiry: until,
    has: (sid) => (sessions.get(sid) ?? 0) > clock.now(),
    end(sid, expires = until()) {
      if (sessions.get(sid) === expires) return
      makeRoom()
      sessions.delete(sid)
      sessions.set(sid, expires)
      notify(sid)
    },
    isEnded({ sid, iat }) {
      const now = clock.now()
      return (iat <= floor.second && now < floor.until) || (sessions.get(sid) ?? 0) > now
    },
    watch(sid, onEnd) {
      const found = watchers.get(sid) ?? new Set()
      watchers.set(sid, found.add(onEnd))
      return () => {
        found.delete(onEnd)
        if (found.size === 0 && watchers.get(sid) === found) watchers.delete(sid)
      }
    },
    isComplete: () => floor.until <= clock.now(),
    get size() {
      return sessions.size
    },
  }
}
