import type { LimitCount } from '../contracts/limiter.ts'
import type { ParsedLimit } from './parse-limit.ts'

/** A limit with its name for clients, and its state. */
export interface LimitState {
  readonly name: string
  readonly limit: ParsedLimit
  readonly count: Omit<LimitCount, 'allowed'>
}

/**
 * Returns `RateLimit-Policy` and `RateLimit` (draft-ietf-httpapi-ratelimit-headers) as structured fields (RFC 9651): a
 * quoted name with quota and window, then the remaining requests and the seconds until the reset. Empty for no limit.
 */
export function limitHeaders(states: readonly LimitState[]): Record<string, string> {
  if (states.length === 0) return {}
  return {
    'RateLimit-Policy': states.map(({ name, limit }) => limitPolicy(name, limit)).join(', '),
    RateLimit: states.map(({ name, count }) => limitStanding(name, count)).join(', '),
  }
}

/** One member of `RateLimit-Policy`. */
export function limitPolicy(name: string, { limit, window }: ParsedLimit): string {
  return `"${name}";q=${limit};w=${window}`
}

/** One member of `RateLimit`. */
export function limitStanding(name: string, { remaining, resetIn }: Omit<LimitCount, 'allowed'>): string {
  return `"${name}";r=${remaining};t=${Math.max(1, Math.ceil(resetIn / 1000))}`
}
