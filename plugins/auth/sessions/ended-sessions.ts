/*
 * An access token is verified without the database, so an ended session must be remembered until its last access token
 * has expired. Checked by test/plugins/auth/sessions/ended-sessions.test.ts.
 */
import type { Clock } from 'mortar'
import { systemClock } from 'mortar/kit'
import type { AuthStore } from '../accounts/auth-store.ts'

/**
 * Seconds that a session is remembered beyond the lifetime of an access token. The clocks of the issuing process and of
 * the cleaning process may be a minute ahead; the clocks of the ending and of the reading process a minute behind.
 */
const LEEWAY = 240
/** About 25 MB; shared by the ended sessions of all processes. */
const DEFAULT_CAPACITY = 250_000

/** Sessions that ended in any process, remembered for the lifetime of an access token. */
export type EndedSessions = ReturnType<typeof createEndedSessions>

/** Settings of `createEndedSessions`. */
export interface EndedSessionsOptions {
  /** Lifetime of an access token in seconds. */
  readonly lifetime: number
  readonly store: Pick<AuthStore, 'hasEnded'>
  readonly clock?: Clock
  /** Maximum number of sessions that are remembered by id. */
  readonly capacity?: number
}

/**
 * Remembers ended sessions in memory. A full list forgets further ends until it has room again. While it is incomplete,
 * the store is asked once about each session that presents a token, so an active session never notices. No time in a
 * token decides, because the process that issued the token may have another clock.
 */
export function createEndedSessions(options: EndedSessionsOptions) {
  const { lifetime, clock = systemClock, capacity = DEFAULT_CAPACITY } = options
  /** Expiry by session id, in the order of their end, since each is remembered for the same time. */
  const sessions = new Map<string, number>()
  let incompleteUntil = 0
  const judge = createJudge(options.store, capacity)
  const watchers = createWatchers()
  const until = (): number => clock.now() + (lifetime + LEEWAY) * 1000
  const has = (sid: string): boolean => {
    const end = sessions.get(sid)
    return end !== undefined && end > clock.now()
  }
  const isComplete = (): boolean => incompleteUntil <= clock.now()

  function hasRoom(): boolean {
    for (const [sid, end] of sessions) {
      if (end > clock.now()) break
      sessions.delete(sid)
    }
    return sessions.size < capacity
  }

  return {
    /**
     * Milliseconds by which the store's clock is ahead of this process's; 0 while they agree. It makes records last longer
     * and never shorter, so that a process whose clock is wrong ends a session everywhere.
     */
    storeAhead: 0,
    /** Expiry of the last access token of a session that ends now, in milliseconds since the epoch. */
    expiry: until,
    /** True for a session whose id is remembered. */
    has,
    /** Records a session as ended. The record is needed until `expires`, by default one lifetime from now. */
    end(sid: string, expires: number = until()) {
      if (sessions.get(sid) === expires) return
      sessions.delete(sid)
      judge.forget(sid)
      if (hasRoom()) sessions.set(sid, expires)
      else incompleteUntil = Math.max(incompleteUntil, expires)
      watchers.notify(sid)
    },
    /**
     * True for an ended session. A promise while the list is incomplete and the store has not been asked about the session.
     * It rejects with the store's error.
     */
    isEnded: (sid: string) => has(sid) || (!isComplete() && judge.isEnded(sid)),
    /** Calls `onEnd` when this session ends. @returns a function that stops it. */
    watch: watchers.watch,
    /** True while every session that ended within the last lifetime is remembered by its id. */
    isComplete,
    /** Number of remembered sessions. */
    get size() {
      return sessions.size
    },
  }
}

function createWatchers() {
  const watchers = new Map<string, Set<() => void>>()
  return {
    watch(sid: string, onEnd: () => void) {
      const found = watchers.get(sid) ?? new Set()
      watchers.set(sid, found.add(onEnd))
      return () => {
        found.delete(onEnd)
        if (found.size === 0 && watchers.get(sid) === found) watchers.delete(sid)
      }
    },
    notify(sid: string): void {
      const found = watchers.get(sid)
      watchers.delete(sid)
      for (const onEnd of found ?? []) onEnd()
    },
  }
}

/**
 * Keeps what the store said about sessions. The end of a session discards its verdict, and also the result of a question
 * that is still under way, because that result may be older than the end.
 */
function createJudge(store: Pick<AuthStore, 'hasEnded'>, capacity: number) {
  const verdicts = new Map<string, boolean | Promise<boolean>>()

  function ask(sid: string): Promise<boolean> {
    if (verdicts.size >= capacity) verdicts.clear()
    const asked = store.hasEnded(sid)
    const isCurrent = (): boolean => verdicts.get(sid) === asked
    verdicts.set(sid, asked)
    asked.then(
      (verdict) => isCurrent() && verdicts.set(sid, verdict),
      () => isCurrent() && verdicts.delete(sid),
    )
    return asked
  }
  return {
    isEnded: (sid: string) => verdicts.get(sid) ?? ask(sid),
    forget: (sid: string) => void verdicts.delete(sid),
  }
}
