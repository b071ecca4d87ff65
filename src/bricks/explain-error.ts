import { isHttpError } from '../errors/http-error.ts'
import type { AnyBrick } from './brick.ts'

/**
 * Makes the function that asks the bricks, in their order, about an error without a status. An API of Node that
 * `ctx.signal` has aborted throws an error of its own, whose cause is the reason of the signal.
 */
export function errorExplainer(bricks: readonly AnyBrick[]): (thrown: unknown) => unknown {
  const explainers = [reasonOfAbort, ...bricks.flatMap(({ explainError }) => explainError ?? [])]
  return (thrown) => {
    try {
      if (isHttpError(thrown)) return thrown
      for (const explain of explainers) {
        const explained = explain(thrown)
        if (explained !== undefined) return explained
      }
    } catch {
      // A getter of the error or a brick has failed. The error itself is reported, outside of requests too.
    }
    return thrown
  }
}

function reasonOfAbort(thrown: unknown): unknown {
  // The cause of another error may be a getter that throws.
  const isAbort = thrown instanceof Error && thrown.name === 'AbortError'
  return isAbort && isHttpError(thrown.cause) ? thrown.cause : undefined
}
