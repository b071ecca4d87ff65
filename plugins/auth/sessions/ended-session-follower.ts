/*
 * Sessions that other processes ended. Each process writes the sessions that it ends to the database and reads the
 * others' records twice a second. Each read covers some past again, by the database's clock: a statement may be committed
 * after the reader has passed its time. Push messages (NOTIFY, Redis) can be lost silently, so they are not used.
 * Tests: test/plugins/auth/sessions/ended-session-follower.test.ts and fleet/ended-everywhere.test.ts.
 */
import type { EndedSessionReader } from '../accounts/auth-store.ts'
import type { EndedSessions } from './ended-sessions.ts'
import { sessionStateUnknown } from '../errors.ts'

/** Milliseconds between two reads. */
const EVERY = 500
/** Milliseconds after the start of a successful read during which the list is current. */
const CURRENT = 1000
/** Milliseconds of the past that each read covers again: longer than a publication can take. */
const OVERLAP = 10_000

/** Settings of `createEndedSessionFollower`. */
export interface EndedSessionFollowerOptions {
  readonly reader: EndedSessionReader
  readonly known: EndedSessions
  /** Called with the reason when the store becomes unreadable, and with null when it is readable again. */
  readonly onChange: (failure: unknown) => void
  /** A monotonic clock in milliseconds; `performance.now` by default. */
  readonly time?: () => number
}

/** Keeps the list of ended sessions current while the application runs. */
export interface EndedSessionFollower {
  /** Reads all relevant records, then continues to read. @throws the store's error. */
  start(): Promise<void>
  /**
   * Returns undefined when the list is current: at most a second old. Otherwise returns a promise that settles after
   * the next read, or after a second one if that fails.
   * @throws ServiceUnavailable 503 `session_state_unknown`, as a rejection, when the second read fails too.
   */
  ensureCurrent(): undefined | Promise<void>
  /** Seconds since the start of the last successful read. */
  age(): number
  stop(): void
}

/** Creates a follower. It reads nothing before `start`. */
export function createEndedSessionFollower(options: EndedSessionFollowerOptions): EndedSessionFollower {
  const { reader, known, time = now } = options
  const report = reporterOfChanges(options.onChange)
  let cursor = 0
  let readAt = Number.NEGATIVE_INFINITY
  let reading: Promise<void> | undefined
  let timer: NodeJS.Timeout | undefined
  let isStopped = false

  async function read(): Promise<void> {
    const began = time()
    const news = await reader.since(cursor - OVERLAP)
    for (const { id, until } of news.sessions) known.end(id, until)
    cursor = news.now
    readAt = began
    report(null)
  }

  function catchUp(): Promise<void> {
    return (reading ??= read().finally(() => (reading = undefined)))
  }

  /** Reads a second time after a failure, because the first read may have met a connection that was lost before. */
  function lookUp(): Promise<void> {
    return catchUp().catch(() => catchUp())
  }

  function readOn(): void {
    if (isStopped) return
    timer = setTimeout(() => {
      void catchUp().catch(report).then(readOn)
    }, EVERY)
    timer.unref()
  }

  return {
    async start() {
      await catchUp()
      readOn()
    },
    ensureCurrent() {
      if (time() - readAt < CURRENT) return undefined
      return lookUp().catch((error: unknown) => {
        report(error)
        throw sessionStateUnknown(error)
      })
    },
    age: () => (time() - readAt) / 1000,
    stop() {
      isStopped = true
      clearTimeout(timer)
      reader.close()
    },
  }
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
