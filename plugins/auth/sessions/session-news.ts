import type { Logger } from 'mortar'
import { ignore } from 'mortar/kit'
import type { AuthStore, EndedSessionReader } from '../accounts/auth-store.ts'
import { createEndedSessionFollower, type EndedSessionFollower } from './ended-session-follower.ts'
import { describeFailure, MissingTable } from '../errors.ts'
import type { AuthParts } from '../flows/parts.ts'
import type { ResolvedLifetimes } from '../options/options.ts'

/** Keeps a process informed about the sessions that other processes ended. */
export type SessionNews = ReturnType<typeof createSessionNews>

interface SessionNewsParts extends Pick<AuthParts, 'endedSessions' | 'events' | 'logger' | 'clock'> {
  readonly store: Pick<AuthStore, 'readEnded'>
  readonly lifetimes: Pick<ResolvedLifetimes, 'staleAfter'>
}

/** Creates the reader for one application. Its store must be connected before `start`. */
export function createSessionNews({
  store,
  endedSessions: known,
  events,
  logger,
  clock,
  lifetimes,
}: SessionNewsParts) {
  let follower: EndedSessionFollower | undefined
  const staleAfter = lifetimes.staleAfter * 1000
  function onChange(failure: unknown): void {
    if (failure === null) events.emit('auth.sessions.known', {})
    else events.emit('auth.sessions.unknown', { error: describeFailure(failure) })
  }
  return {
    /**
     * Runs `look` when the list of ended sessions may be used, which is nearly always immediately.
     * @throws ServiceUnavailable 503 `session_state_unknown`, as a rejection, when the list cannot be read.
     */
    whenCurrent<T>(look: () => T) {
      const waiting = follower?.ensureCurrent()
      return waiting === undefined ? look() : (waiting.then(look) as Promise<Awaited<T>>)
    },
    /** Loads published records and continues to read. Does nothing if no other process shares the store. */
    async start() {
      const reader = store.readEnded(staleAfter)
      if (reader === undefined) return
      const started = createEndedSessionFollower({
        reader: onceThere(reader, logger),
        known,
        clock,
        staleAfter,
        onChange,
        onClock: reader.reportsClock ? ignore : clockReporter(logger),
      })
      try {
        await started.start()
        follower = started
      } catch (error) {
        started.stop()
        throw error
      }
    },
    /** True while the list is too old to be used. False if no other process shares the store. */
    isUnknown: () => follower?.isStale() ?? false,
    /** The check `auth`. @throws Error with the age of the list while it is too old to be used. */
    check() {
      if (follower?.isStale())
        throw new Error(`The list of ended sessions was last read ${Math.round(follower.age())} s ago.`)
    },
    /** Seconds since the list was read; undefined if no other process shares the store. */
    age: () => follower?.age(),
    /** Seconds by which the clock of this process is ahead of the store's; undefined if no other process shares the store. */
    clockOffset: () => follower?.clockOffset(),
    stop: () => follower?.stop(),
  }
}

/** Returns the function that logs when the clocks begin to differ, and when they agree again. */
function clockReporter(logger: Logger): (offset: number) => void {
  let differs = false
  return (offset) => {
    const seconds = Math.round(offset / 1000)
    if ((seconds !== 0) === differs) return
    differs = !differs
    if (!differs) return logger.info('The clock of this process agrees with the database again.')
    logger.warn(
      { seconds },
      `The clock of this process is ${Math.abs(seconds)} s ${seconds > 0 ? 'ahead of' : 'behind'} the database. Other ` +
        'processes may refuse its access tokens. Synchronize the clocks of all machines, for instance by NTP.',
    )
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
