import type { Clock } from 'mortar'
import type { AccessClaims } from '../tokens/access-tokens.ts'
import type { EndedSessions } from './ended-sessions.ts'

/** Milliseconds after which a look-up that failed is repeated. */
const AGAIN = 5000

/** The session of a long response, and the second from which it must be looked up. */
export type WatchedSession = Pick<AccessClaims, 'sub' | 'sid' | 'exp'>

/** Settings of `createSessionWatch`. */
export interface SessionWatchOptions {
  readonly endedSessions: Pick<EndedSessions, 'has' | 'isComplete' | 'watch'>
  readonly clock: Clock
  /** Lifetime of an access token in seconds. */
  readonly lifetime: number
  /** True if the session is active in the database. */
  readonly isActive: (session: WatchedSession) => Promise<boolean>
}

/** Calls `onEnd` once when the session of an access token ends. @returns a function that stops the watch. */
export type SessionWatch = (claims: WatchedSession | null, onEnd: () => void) => () => void

/**
 * Creates the watch of long responses. It learns of ended sessions from the list that every process keeps current. When
 * the access token expires, and then once per lifetime, it looks the session up: it may have expired, or its user may be
 * deleted. A look-up that fails ends nothing and is repeated.
 */
export function createSessionWatch(options: SessionWatchOptions): SessionWatch {
  const { endedSessions, clock, lifetime, isActive } = options
  return (claims, onEnd) => {
    // A token that expired while its handler ran.
    if (claims === null || endedSessions.has(claims.sid)) return (onEnd(), () => undefined)
    const state = { isOver: false }
    let timer: NodeJS.Timeout | undefined
    const stop = (): void => {
      state.isOver = true
      clearTimeout(timer)
      forget()
    }
    const end = (): void => {
      if (state.isOver) return
      stop()
      onEnd()
    }
    const forget = endedSessions.watch(claims.sid, end)
    const lookAfter = (milliseconds: number): void => {
      if (state.isOver) return
      timer = setTimeout(() => void look(), Math.max(0, milliseconds))
      timer.unref()
    }
    const look = async (): Promise<void> => {
      try {
        if (await isActive(claims)) lookAfter(lifetime * 1000)
        else end()
      } catch {
        lookAfter(AGAIN)
      }
    }
    // While the list is incomplete, it may have forgotten a session that ended while the handler ran.
    lookAfter(endedSessions.isComplete() ? claims.exp * 1000 - clock.now() : 0)
    return stop
  }
}
