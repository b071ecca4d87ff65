import type { EventBus, Logger } from '../../../src/index.ts'
import type { AuthStore, EndedSessionReader } from '../accounts/auth-store.ts'
import { createEndedSessionFollower, type EndedSessionFollower } from './ended-session-follower.ts'
import { describeFailure, MissingTable } from '../errors.ts'
import type { AuthEvents } from '../events/events.ts'
import type { EndedSessions } from './ended-sessions.ts'

/** Keeps a process informed about the sessions that other processes ended. */
export interface SessionNews {
  /**
   * Runs `look` when the list of ended sessions is current, which is nearly always immediately.
   * @throws ServiceUnavailable 503 `session_state_unknown`, as a rejection, when the list cannot be read.
   */
  whenCurrent<T>(look: () => T): T | Promise<Awaited<T>>
  /** Loads published records and continues to read. Does nothing if no other process shares the store. */
  start(): Promise<void>
  /** Seconds since the list was read; undefined if no other process shares the store. */
  age(): number | undefined
  stop(): void
}

interface SessionNewsParts {
  readonly store: Pick<AuthStore, 'readEnded'>
  readonly endedSessions: EndedSessions
  readonly events: EventBus<AuthEvents>
  readonly logger: Logger
}

/** Creates the reader for one application. Its store must be connected before `start`. */
export function createSessionNews({
  store,
  endedSessions: known,
  events,
  logger,
}: SessionNewsParts): SessionNews {
  let follower: EndedSessionFollower | undefined
  function onChange(failure: unknown): void {
    if (failure === null) events.emit('auth.sessions.known', {})
    else events.emit('auth.sessions.unknown', { error: describeFailure(failure) })
  }
  return {
    whenCurrent<T>(look: () => T) {
      const waiting = follower?.ensureCurrent()
      return waiting === undefined ? look() : (waiting.then(look) as Promise<Awaited<T>>)
    },
    async start() {
      const reader = store.readEnded()
      if (reader === undefined) return
      const started = createEndedSessionFollower({ reader: onceThere(reader, logger), known, onChange })
      try {
        await started.start()
        follower = started
      } catch (error) {
        started.stop()
        throw error
      }
    },
    age: () => follower?.age(),
    stop: () => follower?.stop(),
  }
}

/**
 * Without its tables the application starts, and the first sign-up names the missing table. Before a migration creates
 * the table, nothing can be published; afterwards it is read normally.
 */
function onceThere(reader: EndedSessionReader, logger: Logger): EndedSessionReader {
  let state: 'unknown' | 'missing' | 'there' = 'unknown'
  return {
    close: () => reader.close(),
    async since(moment) {
      try {
        const news = await reader.since(moment)
        state = 'there'
        return news
      } catch (error) {
        if (state === 'there' || !(error instanceof MissingTable)) throw error
        if (state === 'unknown') logger.warn(error.message)
        state = 'missing'
        return { sessions: [], now: 0 }
      }
    },
  }
}
