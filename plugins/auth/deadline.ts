import { ServiceUnavailable, type User } from 'mortar'
import { inTime } from 'mortar/kit'

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
