import type { HttpError } from 'mortar'
import { databaseFaultOf, inCauses } from 'mortar/kit'
import { problem, type PROBLEMS } from '../problems.ts'

/** The two problem codes of a database that cannot serve a statement now. */
export type Unavailability = Extract<keyof typeof PROBLEMS, 'database_unavailable' | 'database_busy'>

/** Errors without a code of their own, such as those of a pool. */
const marked = new WeakMap<object, Unavailability>()

/** Records the meaning of an error unless it has one, and returns the error. */
export function markUnavailable<Thrown>(error: Thrown, meaning: Unavailability): Thrown {
  if (typeof error === 'object' && error !== null && !marked.has(error)) marked.set(error, meaning)
  return error
}

/** Errors that a statement in a read-only transaction of the application has caused, on a server that can write. */
const own = new WeakSet<object>()

/** Records that the application itself has caused an error whose code also means a server that cannot write. */
export function markOwn(error: object): void {
  own.add(error)
}

/** Seconds for `Retry-After`. */
const RETRY_AFTER: Readonly<Record<Unavailability, number>> = { database_unavailable: 2, database_busy: 1 }

const DETAILS: Readonly<Record<Unavailability, string>> = {
  database_unavailable: 'The database is not available. Try again shortly.',
  database_busy: 'The database is busy. Try again shortly.',
}

/** Returns the 503 for an error of an unreachable or busy database, or undefined for any other error. */
export function explainUnavailable(error: unknown): HttpError | undefined {
  const code = unavailabilityOf(error)
  if (code === undefined) return undefined
  const headers = { 'Retry-After': String(RETRY_AFTER[code]) }
  return problem(code, DETAILS[code], { headers, cause: error })
}

/**
 * Returns the meaning of an error, or of one of its causes: of the pool, or of a driver inside TypeORM's
 * `QueryFailedError`. An error with the same code that no database has thrown, such as ECONNREFUSED of another server,
 * has none.
 */
export function unavailabilityOf(error: unknown): Unavailability | undefined {
  return inCauses(error, (each) => marked.get(each) ?? ofDriver(each['driverError']))
}

function ofDriver(error: unknown): Unavailability | undefined {
  if (typeof error !== 'object' || error === null) return undefined
  const known = marked.get(error)
  if (known !== undefined || own.has(error)) return known
  const fault = databaseFaultOf(error)
  return fault && `database_${fault}`
}
