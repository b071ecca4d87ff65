import { ServiceUnavailable, type User } from 'mortar'

type Answer = User | null

/** Seconds after which a caller may try again. */
const RETRY_AFTER = 5

/**
 * Waits for a provider's result for a limited number of milliseconds, so that a hanging provider does not block requests.
 * A synchronous result is returned unchanged.
 * @throws ServiceUnavailable 503 after the time limit.
 */
export function refuseLate(
  answer: Answer | Promise<Answer>,
  milliseconds: number,
  provider: string,
): Answer | Promise<Answer> {
  if (!isPromise(answer)) return answer
  return inTime(answer, milliseconds, () => {
    const cause = new Error(`The auth provider '${provider}' did not respond within ${milliseconds} ms.`)
    return new ServiceUnavailable('Authentication timed out. Try again shortly.', {
      retryAfter: RETRY_AFTER,
      cause,
    })
  })
}

function isPromise(answer: Answer | Promise<Answer>): answer is Promise<Answer> {
  return typeof answer === 'object' && answer !== null && 'then' in answer
}

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

/** Does nothing: a listener for errors that are reported elsewhere. */
export function ignore(): void {}
