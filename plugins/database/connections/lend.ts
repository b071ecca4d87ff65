import { withDeadline } from 'mortar/kit'
import type { Link } from './link.ts'
import { SilentConnection, type SilenceWatch } from './silence-watch.ts'
import { markUnavailable } from './unavailable.ts'

/** The parts of a pool that lending uses. */
export interface Lender<Connection> {
  readonly watch: SilenceWatch
  /** Milliseconds that a caller waits for a connection that works. */
  readonly poolTimeout: () => number
  /** Takes a connection out of the pool, a new one if none is idle. */
  take(): Promise<Attempt<Connection>>
  linkOf(connection: Connection): Link
  /** Makes the server answer, and stores the identity of the session in the link. Rejects if the connection is dead. */
  check(connection: Connection): Promise<unknown>
  giveBack(connection: Connection): void
  /** Ends a connection that does not work, so that the pool makes another one. */
  drop(connection: Connection): void
}

/** The first attempt of a pool: a connection, or the error of making one. */
export interface Attempt<Connection> {
  readonly connection?: Connection | undefined
  readonly error?: Error | null | undefined
}

/**
 * Lends a connection that works, to a callback as the drivers have it. A connection that was used within the last second does. Another one has to answer a
 * trivial statement first, so that no caller receives a connection that died while it was idle.
 * The error of the callback is marked as unavailable or busy.
 * @param began when the caller began to wait, by `performance.now()`.
 */
export async function lend<Connection>(
  lender: Lender<Connection>,
  first: Attempt<Connection>,
  began: number,
  callback: (error: Error | null, connection?: Connection) => void,
): Promise<void> {
  let lent: Connection
  try {
    const connection = checkAttempt(first)
    lent = await lendInTime(lender, began, (isLate) => lendChecked(lender, connection, isLate))
  } catch (error) {
    callback(error as Error)
    return
  }
  callback(null, lent)
}

/** Returns undefined for a connection that the watch has ended while it was being opened. */
function checkAttempt<Connection>({ connection, error }: Attempt<Connection>): Connection | undefined {
  if (error === undefined || error === null) return connection
  if (error instanceof SilentConnection || error.cause instanceof SilentConnection) return undefined
  throw markUnavailable(error, 'database_unavailable')
}

/** Takes one connection after the other until one has answered. A dead one has failed for no caller yet. */
async function lendChecked<Connection>(
  lender: Lender<Connection>,
  first: Connection | undefined,
  isLate: () => boolean,
): Promise<Connection> {
  for (let connection = first; ; connection = checkAttempt(await lender.take())) {
    if (isLate()) {
      if (connection !== undefined) lender.giveBack(connection)
      throw noConnection(lender)
    }
    if (connection !== undefined && (await works(lender, connection))) return connection
  }
}

async function works<Connection>(lender: Lender<Connection>, connection: Connection): Promise<boolean> {
  const { watch } = lender
  const link = lender.linkOf(connection)
  const trust = watch.trust(link)
  if (trust === 'fresh') return true
  if (trust === 'unknown') {
    link.isCheck = true
    try {
      await lender.check(connection)
      return true
    } catch {
      // The connection is dropped below.
    }
  }
  lender.drop(connection)
  return false
}

/** A connection that comes after the deadline goes back to the pool. */
function lendInTime<Connection>(
  lender: Lender<Connection>,
  began: number,
  work: (isLate: () => boolean) => Promise<Connection>,
): Promise<Connection> {
  let late = false
  const working = work(() => late)
  working.then(
    (connection) => late && lender.giveBack(connection),
    () => undefined,
  )
  return withDeadline(working, (began + lender.poolTimeout() - performance.now()) / 1000, () => {
    late = true
    return noConnection(lender)
  })
}

/** The patience of callers; `watch` is missing for a pool without one. */
export type Patience = Pick<Lender<unknown>, 'poolTimeout'> & { readonly watch?: SilenceWatch }

/** The error of a caller for whom no connection became free in time. */
export function noConnection({ watch, poolTimeout }: Patience): Error {
  const time = `${poolTimeout() / 1000} s`
  return watch?.isUnreachable
    ? markUnavailable(new Error(`The database has not answered for ${time}.`), 'database_unavailable')
    : markUnavailable(new Error(`No database connection became free within ${time}.`), 'database_busy')
}

/** Limits the wait in the queue, which mysql2 does not. */
export function takeInTime<Connection extends { release(): void }>(
  take: (callback: Borrower<Connection>) => unknown,
  limits: Patience,
  callback: Borrower<Connection>,
): void {
  let isLate = false
  const timer = setTimeout(() => {
    isLate = true
    callback(noConnection(limits))
  }, limits.poolTimeout())
  take((error, connection) => {
    clearTimeout(timer)
    if (isLate) connection?.release()
    else callback(error, connection)
  })
}

type Borrower<Connection> = (error: Error | null, connection?: Connection) => void

/** pg-pool has one message for a queue in which no place became free. */
export function asNoConnection(error: Error | undefined, limits: Patience): Error | undefined {
  return error?.message === 'timeout exceeded when trying to connect' ? noConnection(limits) : error
}
