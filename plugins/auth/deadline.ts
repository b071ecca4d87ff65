import { ServiceUnavailable, type User } from '../../src/index.ts'

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
  return isPromise(answer) ? within(answer, milliseconds, provider) : answer
}

function isPromise(answer: Answer | Promise<Answer>): answer is Promise<Answer> {
  return typeof answer === 'object' && answer !== null && 'then' in answer
}

function within(answer: Promise<Answer>, milliseconds: number, provider: string): Promise<Answer> {
  return new Promise((resolve, reject) => {
    const late = (): void =>
      reject(
        new ServiceUnavailable(`Authentication timed out. Try again shortly.`, {
          retryAfter: RETRY_AFTER,
          cause: new Error(`The auth provider '${provider}' did not respond within ${milliseconds} ms.`),
        }),
      )
    const timer = setTimeout(late, milliseconds)
    answer.then(resolve, reject).finally(() => clearTimeout(timer))
  })
}

/** Waits for work for a limited number of milliseconds. The work itself continues. @throws Error after the limit. */
export async function inTime<T>(work: Promise<T>, milliseconds: number): Promise<T> {
  let timer: NodeJS.Timeout | undefined
  const late = new Promise<never>((_resolve, reject) => {
    timer = setTimeout(
      () => reject(new Error(`The database did not respond within ${milliseconds} ms.`)),
      milliseconds,
    )
    timer.unref()
  })
  try {
    return await Promise.race([work, late])
  } finally {
    clearTimeout(timer)
    // A failure after the limit was already reported as a timeout.
    work.catch(ignore)
  }
}

function ignore(): void {}
