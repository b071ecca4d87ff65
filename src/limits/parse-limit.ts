import type { Limit } from '../contracts/limiter.ts'
import { milliseconds } from '../support/duration.ts'
import { oncePerObject } from '../support/once.ts'

/** A limit with its window in whole seconds. */
export interface ParsedLimit extends Limit {
  readonly window: number
}

/** Node's timers and 32-bit stores overflow beyond this: a longer window would silently not limit. */
const LONGEST_WINDOW = 24 * 86_400
/** Stores count in 32 bits. */
const HIGHEST_LIMIT = 1_000_000_000

const parsed = oncePerObject((limit: Limit): ParsedLimit => {
  if (!Number.isSafeInteger(limit.limit) || limit.limit < 1 || limit.limit > HIGHEST_LIMIT)
    throw new RangeError("has no whole 'limit' of at least 1.")
  const length = milliseconds(limit.window) / 1000
  if (!(length >= 1 && length <= LONGEST_WINDOW)) throw new RangeError("has no 'window' from '1s' to '24d'.")
  return { limit: limit.limit, window: Math.ceil(length) }
})

/**
 * Returns a limit with its window in seconds. The result is kept for the object, so that a request does not parse it.
 * @throws RangeError for numbers that would limit nothing. The message is the predicate of a sentence.
 */
export function parseLimit(limit: Limit): ParsedLimit {
  return parsed(limit)
}
