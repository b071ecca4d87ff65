import { ignore } from './ignore.ts'
import { inTime, lateDatabase } from './in-time.ts'

/** Milliseconds without a response after which a second attempt begins. */
const PATIENCE = 1000
/** A response within these milliseconds is quick: a database that responded so is not expected to take a second. */
const QUICK = 500

/**
 * Creates a function that runs an attempt, such as a statement, and a second one beside it when the first one has not settled after a second
 * although the one before was quick: its connection may be dead, and waiting for the time limit would be long. A database
 * that is slow all the time gets one attempt. The first success counts.
 */
export function createHedge(): <T>(attempt: () => Promise<T>) => Promise<T> {
  let wasQuick = false
  return async (attempt) => {
    const began = performance.now()
    try {
      const first = attempt()
      if (wasQuick && !(await settlesWithin(PATIENCE, first))) return await either(first, attempt())
      return await first
    } finally {
      wasQuick = performance.now() - began < QUICK
    }
  }
}

function settlesWithin(milliseconds: number, work: Promise<unknown>): Promise<boolean> {
  const settled = work.then(ignore, ignore)
  return inTime(settled, milliseconds, () => lateDatabase(milliseconds)).then(
    () => true,
    () => false,
  )
}

async function either<T>(first: Promise<T>, second: Promise<T>): Promise<T> {
  try {
    return await Promise.any([first, second])
  } catch (error) {
    throw (error as AggregateError).errors[1]
  }
}
