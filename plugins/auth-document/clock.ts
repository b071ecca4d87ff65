/*
 * One clock dates the ends of sessions, the rotations and the follower's position: the clock of `$currentDate`. Reading
 * it takes a write. `hello` returns the clock of the program that the driver talks to, and on FerretDB or behind a mongos
 * that program may run on another machine than the one that stores documents.
 * Tests: test/plugins/auth/document/clocks.test.ts.
 */
import type { Logger } from 'mortar'
import { commandOf, type Document, type DocumentDatabase, type Run } from './connection.ts'
import { isDuplicateKey } from './driver-error.ts'

/** A document of `auth_ended_sessions` that no reader of sessions finds, because it has no `ended_at`. */
const CLOCK = { _id: 'clock' }
const TICK = { $currentDate: { now: true } }
/** A lost date matters to nobody, so the date need not reach the majority. */
const OPTIONS = { upsert: true, returnDocument: 'after', writeConcern: { w: 1 } } as const

/** Returns the time of `$currentDate` in milliseconds since the epoch. */
export async function databaseTime(run: Run): Promise<number> {
  const read = () => run('auth_ended_sessions', (ended) => ended.findOneAndUpdate(CLOCK, TICK, OPTIONS))
  const found = await read().catch((error: unknown) => {
    // Two processes have created the document at the same moment.
    if (isDuplicateKey(error)) return read()
    throw error
  })
  return ((found as Document)['now'] as Date).getTime()
}

/** Seconds of difference between two clocks that are reported, and below which they count as equal again. */
const REPORTED = 2
const EQUAL = 1

/** Compares a clock with the database's, and logs when they begin to differ and when they agree again. */
function createComparison(name: string, logger: Logger) {
  let isReported = false
  /** Both in milliseconds. `error` is the most by which the measurement may be wrong. */
  return (difference: number, error: number): void => {
    const seconds = Math.round(Math.max(0, Math.abs(difference) - error) / 100) / 10
    if (isReported ? seconds >= EQUAL : seconds < REPORTED) return
    isReported = !isReported
    if (!isReported) return logger.info(`The clock of ${name} agrees with the document database again.`)
    logger.warn(
      { seconds },
      `The clock of ${name} is ${seconds} s ${difference > 0 ? 'ahead of' : 'behind'} the document database. ` +
        'Synchronize the clocks of all machines, for instance by NTP.',
    )
  }
}

/** Milliseconds between two readings of the clock for the follower. */
const EVERY = 5000

/** A clock whose last reading is available without waiting. */
export interface FollowerClock {
  /**
   * Returns a time that the database's clock has passed, at most some seconds ago. Waits for the first reading only;
   * later readings run in the background, because an old time makes a reader read more, never less.
   */
  read(): Promise<number>
}

/** Settings of `createFollowerClock`. */
export interface FollowerClockOptions {
  readonly run: Run
  readonly source: () => DocumentDatabase
  /** Time limit of one operation in milliseconds. */
  readonly limit: () => number
  readonly logger?: Logger | undefined
  /** The clock that dates tokens, in milliseconds since the epoch; `Date.now` by default. */
  readonly now?: (() => number) | undefined
  /** A monotonic clock in milliseconds; `performance.now` by default. */
  readonly time?: (() => number) | undefined
}

/** Creates the clock of one follower. It also compares the other clocks with the database's. */
export function createFollowerClock(options: FollowerClockOptions) {
  const { run, source, limit, logger, now: own = Date.now, time = monotonic } = options
  let latest: number | undefined
  let due = 0
  const ofFrontEnd = logger && createComparison("the database's front end", logger)
  const ofProcess = logger && createComparison('this process', logger)

  async function tick(): Promise<number> {
    due = time() + EVERY
    const asked = performance.now()
    latest = await databaseTime(run)
    ofProcess?.(own() - latest, performance.now() - asked)
    await compareFrontEnd(latest, asked).catch(() => {})
    return latest
  }
  async function compareFrontEnd(now: number, asked: number): Promise<void> {
    if (ofFrontEnd === undefined) return
    const { localTime } = (await commandOf(source(), { hello: 1 }, limit())) as { localTime?: unknown }
    if (localTime instanceof Date) ofFrontEnd(localTime.getTime() - now, performance.now() - asked)
  }
  return {
    async read() {
      if (latest === undefined) return tick()
      if (time() >= due) void tick().catch(() => {})
      return latest
    },
  } satisfies FollowerClock
}

function monotonic(): number {
  return performance.now()
}
