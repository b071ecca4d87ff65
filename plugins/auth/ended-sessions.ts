/*
 * An access token is verified without the database, so a session that was ended must be remembered until the last
 * access token it could have has expired. Time alone cannot tell a session that began before "end all sessions of this
 * user" from one that began in the same second; the order of session ids can, which is why they are made here.
 * Held by test/plugins/auth/primitives/ended-sessions.test.ts.
 */
import { systemClock, type Clock } from '../../src/index.ts'
import { createSessionIds, momentOf } from './session-ids.ts'

/** Hosts whose clocks differ by less than this many seconds agree on what is over. */
const LEEWAY = 5
const DEFAULT_CAPACITY = 50_000

/** What an access token says about its session; `iat` in seconds since the epoch. */
export interface SessionClaims {
  readonly sid: string
  readonly sub: string
  readonly iat: number
}

/** Sessions that this process ended, remembered for the lifetime of an access token. */
export interface EndedSessions {
  /** A new session id. Make it before the session's row is stored, and use it for no second session. */
  begin(): string
  /** Ends one session. */
  end(sid: string): void
  /** Ends every session of a user that began before now, except one. */
  endUser(userId: string, exceptSid?: string): void
  isEnded(claims: SessionClaims): boolean
  /** How many sessions and users are remembered. */
  readonly size: number
}

/** Settings of `createEndedSessions`. */
export interface EndedSessionsOptions {
  /** Lifetime of an access token in seconds. */
  readonly lifetime: number
  readonly clock?: Clock
  /** How many sessions, and how many users, are remembered one by one. */
  readonly capacity?: number
}

interface UserEnd {
  /** Sessions whose id comes before this one are over. */
  readonly mark: string
  /** The same in seconds, for ids that say no time. */
  readonly second: number
  readonly except: string | undefined
  readonly until: number
}

/**
 * Remembers ended sessions in memory. When more are ended within a lifetime than there is room for, the list gives way
 * to one rule: access tokens issued until now are over, whosoever they are. Living sessions then refresh once; an
 * ended one cannot.
 */
export function createEndedSessions(options: EndedSessionsOptions): EndedSessions {
  const { lifetime, clock = systemClock, capacity = DEFAULT_CAPACITY } = options
  const ids = createSessionIds({ clock })
  const sessions = new Map<string, number>()
  const users = new Map<string, UserEnd>()
  let floor = { second: -1, until: 0 }

  const second = (): number => Math.floor(clock.now() / 1000)
  const until = (): number => clock.now() + (lifetime + LEEWAY) * 1000

  function makeRoom(): void {
    const now = clock.now()
    dropExpired(sessions, (ends) => ends <= now)
    dropExpired(users, (user) => user.until <= now)
    if (sessions.size < capacity && users.size < capacity) return
    sessions.clear()
    users.clear()
    floor = { second: second(), until: until() }
  }

  function end(sid: string): void {
    makeRoom()
    sessions.delete(sid)
    sessions.set(sid, until())
  }

  /** A session that is over already is not brought back by being left out. */
  function endUser(userId: string, exceptSid?: string): void {
    const isLeftOut = exceptSid !== undefined && !isOver(exceptSid, userId, Infinity)
    makeRoom()
    users.delete(userId)
    const except = isLeftOut ? exceptSid : undefined
    users.set(userId, { mark: ids.next(), second: second(), except, until: until() })
  }

  function isOver(sid: string, sub: string, iat: number): boolean {
    const now = clock.now()
    if ((sessions.get(sid) ?? 0) > now) return true
    const user = users.get(sub)
    return user !== undefined && user.until > now && user.except !== sid && beganBefore(user, sid, iat)
  }

  function isEnded({ sid, sub, iat }: SessionClaims): boolean {
    if (iat <= floor.second && clock.now() < floor.until) return true
    return isOver(sid, sub, iat)
  }

  return {
    begin: () => ids.next(),
    end,
    endUser,
    isEnded,
    get size() {
      return sessions.size + users.size
    },
  }
}

/** An id of another make says no time; then the second of the token's issue decides, and the same second is over. */
function beganBefore(user: UserEnd, sid: string, iat: number): boolean {
  const moment = momentOf(sid)
  return moment === null ? iat <= user.second : moment < user.mark
}

/** Entries are in the order of their end, because each lives equally long: stop at the first that lives. */
function dropExpired<Value>(entries: Map<string, Value>, isExpired: (value: Value) => boolean): void {
  for (const [key, value] of entries) {
    if (!isExpired(value)) return
    entries.delete(key)
  }
}
