import { isHttpError } from '../errors/http-error.ts'
import type { AnyBrick } from './brick.ts'

/** Makes the function that asks the bricks, in their order, about an error without a status. */
export function errorExplainer(bricks: readonly AnyBrick[]): (thrown: unknown) => unknown {
  const explainers = bricks.flatMap(({ explainError }) => explainError ?? [])
  return (thrown) => {
    if (isHttpError(thrown)) return thrown
    for (const explain of explainers) {
      const explained = explain(thrown)
      if (explained !== undefined) return explained
    }
    return thrown
  }
}
