import type * as RateLimiterFlexible from 'rate-limiter-flexible'
import { loadPeer, type PeerNeed } from '../../src/index.ts'

/** The package that counts in Redis. The other stores do not need it. */
export const limitsNeed: PeerNeed = {
  of: "the brick 'limits'",
  peers: { from: import.meta.url, packages: ['rate-limiter-flexible'] },
}

/** rate-limiter-flexible has 36 modules, so only limits in Redis load it. */
export const loadRateLimiters = (): typeof RateLimiterFlexible =>
  loadPeer('rate-limiter-flexible', limitsNeed)
