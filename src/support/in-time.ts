import { ignore } from './ignore.ts'

/**
 * Waits for work for a limited number of milliseconds. The work itself continues. A result that arrives while the process
 * is busy is in time: the limit ends only after the event loop has read its sockets.
 * @throws what `late` returns.
 */
export async function inTime<T>(work: Promise<T>, milliseconds: number, late: () => Error): Promise<T> {
  let timer: NodeJS.Timeout | undefined
  const limit = new Promise<never>((_resolve, reject) => {
    timer = setTimeout(() => setImmediate(() => reject(late())), milliseconds)
    timer.unref()
  })
  try {
    return await Promise.race([work, limit])
  } finally {
    clearTimeout(timer)
    // A failure after the limit was already reported as a timeout.
    work.catch(ignore)
  }
}

/** The error of a database that takes too long. */
export function lateDatabase(milliseconds: number): Error {
  return new Error(`The database did not respond within ${milliseconds} ms.`)
}
