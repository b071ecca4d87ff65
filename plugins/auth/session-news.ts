import { createEndedSessionFollower, type EndedSessionFollower } from './ended-session-follower.ts'
import { describeFailure, MissingTable } from './errors.ts'
import type { AuthParts } from './flows/parts.ts'

/** Keeps a process informed about the sessions that other processes ended. */
export interface SessionNews {
  /**
   * Runs `look` as soon as the news are current, which is immediately nearly always.
   * @throws ServiceUnavailable 503 `session_state_unknown`, as a rejection, when they cannot be read.
   */
  whenCurrent<T>(look: () => T): T | Promise<Awaited<T>>
  /** Loads what is published and reads on; does nothing where no other process shares the store. */
  start(): Promise<void>
  stop(): void
}

/** Makes the news of one application; its store must be connected before `start`. */
export function createSessionNews({ store, endedSessions: known, events, logger }: AuthParts): SessionNews {
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
      const started = createEndedSessionFollower({ reader, known, onChange })
      try {
        await started.start()
        follower = started
      } catch (error) {
        started.stop()
        // Without its tables the application starts, and the first sign-up names what is missing.
        if (!(error instanceof MissingTable)) throw error
        logger.warn(error.message)
      }
    },
    stop: () => follower?.stop(),
  }
}
