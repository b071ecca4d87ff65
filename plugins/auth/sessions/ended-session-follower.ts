/*
 * Sessions that other processes ended. Each process writes the sessions that it ends to the database and reads the
 * others' records twice a second. Each read covers some past again, by the database's clock: a statement may be committed
 * after the reader has passed its time. Push messages (NOTIFY, Redis) can be lost silently, so they are not used.
 * A slow database delays the reads, and slow is not down: requests are served by an older list up to a limit.
 * Tests: test/plugins/auth/sessions/ended-session-follower.test.ts, slow-database.test.ts and fleet/ended-everywhere.test.ts.
 */
import type { Clock } from 'mortar'
import { ignore, inTime, lateDatabase } from 'mortar/kit'
import type { EndedSessionReader } from '../accounts/auth-store.ts'
import { sessionStateUnknown } from '../errors.ts'
import type { EndedSessions } from './ended-sessions.ts'

/** Milliseconds from the start of one read to the next. */
const EVERY = 500
/** Milliseconds after the start of a successful read during which the list is current. */
const CURRENT = 1000
/** Milliseconds after which a read is slow. No request waits longer for one while the list is not stale. */
const SLOW = 500
/** Milliseconds of the past that each read covers again: longer than a publication can take. */
const OVERLAP = 10_000

/** Milliseconds by which clocks may differ: ended sessions are remembered for some minutes longer than needed. */
const TOLERATED = 30_000
/** Milliseconds by which a difference must change to count as another one. */
const ANOTHER = 5000

/** Settings of `createEndedSessionFollower`. */
export interface EndedSessionFollowerOptions {
  readonly reader: EndedSessionReader
  readonly known: EndedSessions
  /** Milliseconds after the start of the last successful read from which on the list decides nothing. */
  readonly staleAfter: number
  /** Called with the reason when the list becomes stale, and with null when it is current again. */
  readonly onChange: (failure: unknown) => void
  /** Called after each read with the milliseconds by which this process's clock is ahead; 0 while the clocks agree. */
  readonly onClock: (offset: number) => void
  /** The clock that dates tokens, in milliseconds since the epoch. */
  readonly clock: Clock
  /** A monotonic clock in milliseconds; `performance.now` by default. */
  readonly time?: () => number
}

/** Keeps the list of ended sessions current while the application runs. */
export type EndedSessionFollower = ReturnType<typeof createEndedSessionFollower>

/** Creates a follower. It reads nothing before `start`. */
export function createEndedSessionFollower(options: EndedSessionFollowerOptions) {
  const { staleAfter } = options
  const report = reporterOfChanges(options.onChange)
  const reads = createReads(options, () => report(null))
  let timer: NodeJS.Timeout | undefined
  let isStopped = false
  const isStale = (): boolean => reads.age() >= staleAfter

  function readOn(): void {
    if (isStopped) return
    timer = setTimeout(() => {
      const failed = (error: unknown): void => (isStale() ? report(error) : undefined)
      void reads.next().catch(failed).then(readOn)
    }, reads.untilNext())
    timer.unref()
  }

  /** Reads a second time after a failure, because the first read may have met a connection that was lost before. */
  async function lookUp(): Promise<void> {
    const read = reads.next().catch(() => reads.next())
    try {
      await inTime(read, staleAfter, () => lateDatabase(staleAfter))
    } catch (error) {
      report(error)
      throw sessionStateUnknown(error)
    }
  }

  return {
    /** Reads all relevant records, then continues to read. @throws the store's error. */
    async start() {
      await reads.next()
      readOn()
    },
    /**
     * Returns undefined when the list may be used: it is at most a second old, or not stale and reads are slow. Otherwise
     * returns a promise that settles after the next read, or after half a second if the list is not stale.
     * @throws ServiceUnavailable 503 `session_state_unknown`, as a rejection, when the list is stale and cannot be read.
     */
    ensureCurrent() {
      if (isStale()) return lookUp()
      if (reads.age() < CURRENT || reads.areSlow()) return undefined
      return inTime(reads.next(), SLOW, () => lateDatabase(SLOW)).catch(ignore)
    },
    /** True while the list is too old to be used. */
    isStale,
    /** Seconds since the start of the last successful read. */
    age: () => reads.age() / 1000,
    /** Seconds by which this process's clock was ahead of the store's in the last read; undefined before the first. */
    clockOffset: reads.clockOffset,
    stop() {
      isStopped = true
      clearTimeout(timer)
      options.reader.close()
    },
  }
}

/** Creates the reads of one follower, of which one runs at a time. Times are in milliseconds. */
function createReads(
  { reader, known, clock, onClock, time = now }: EndedSessionFollowerOptions,
  done: () => void,
) {
  let cursor = 0
  let readAt = Number.NEGATIVE_INFINITY
  let began = 0
  let lastTook = 0
  let reading: Promise<void> | undefined
  let ahead: number | undefined

  async function read(): Promise<void> {
    began = time()
    const asked = clock.now()
    const news = await reader.since(cursor - OVERLAP)
    // Without its table, the store has no time.
    if (news.now > 0) ahead = aheadOf(news.now, asked, clock.now())
    known.storeAhead = correction(known.storeAhead, ahead ?? 0)
    onClock(0 - known.storeAhead)
    for (const { id, until } of news.sessions) known.end(id, until + Math.max(0, -known.storeAhead))
    cursor = news.now
    readAt = began
    done()
  }
  function finish(): void {
    reading = undefined
    lastTook = time() - began
  }
  return {
    /** The read that runs, or a new one. */
    next: () => (reading ??= read().finally(finish)),
    age: () => time() - readAt,
    clockOffset: () => (ahead === undefined ? undefined : (0 - ahead) / 1000),
    areSlow: () => lastTook >= SLOW || (reading !== undefined && time() - began >= SLOW),
    untilNext: () => Math.max(0, EVERY - lastTook),
  }
}

/** Returns the least difference between the store's time and a moment between question and response. */
function aheadOf(store: number, asked: number, answered: number): number {
  if (store > answered) return store - answered
  return Math.min(0, store - asked)
}

/** Returns the difference to apply. It is stable, so that a record that is read again has the same time. */
function correction(current: number, ahead: number): number {
  if (Math.abs(ahead) <= TOLERATED) return 0
  return Math.abs(ahead - current) < ANOTHER ? current : ahead
}

function now(): number {
  return performance.now()
}

/** Reports the first of consecutive failures, and the first success after them. */
function reporterOfChanges(onChange: (failure: unknown) => void): (failure: unknown) => void {
  let isFailing = false
  return (failure) => {
    if ((failure !== null) === isFailing) return
    isFailing = !isFailing
    onChange(failure)
  }
}
