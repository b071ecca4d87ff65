import { ServiceUnavailable, type User } from '../../src/index.ts'

type Answer = User | null

/** Seconds after which a caller may try again. */
const RETRY_AFTER = 5

/**
 * Waits for a provider's answer for at most so many milliseconds, so that a provider that hangs holds no request. An
 * answer that is there at once is returned as it is.
 * @throws ServiceUnavailable 503 when the time is up.
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
          cause: new Error(`The auth provider '${provider}' gave no answer within ${milliseconds} ms.`),
        }),
      )
    const timer = setTimeout(late, milliseconds)
    answer.then(resolve, reject).finally(() => clearTimeout(timer))
  })
}

/** Waits for work at most so many milliseconds; the work itself goes on. @throws Error when the time is up. */
export async function inTime<T>(work: Promise<T>, milliseconds: number): Promise<T> {
  let timer: NodeJS.Timeout | undefined
  const late = new Promise<never>((_resolve, reject) => {
    timer = setTimeout(
      () => reject(new Error(`The database did not answer within ${milliseconds} ms.`)),
      milliseconds,
    )
    timer.unref()
  })
  try {
    return await Promise.race([work, late])
  } finally {
    clearTimeout(timer)
    // Whatever it fails with after its time is up was reported as late.
    work.catch(ignore)
  }
}

function ignore(): void {}
