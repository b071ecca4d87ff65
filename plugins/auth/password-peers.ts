import type * as Argon2 from 'argon2'
import type * as JsonWebToken from 'jsonwebtoken'
import type Jwa from 'jwa'
import type * as RateLimiterFlexible from 'rate-limiter-flexible'
import { loadPeer, type PeerNeed } from '../../src/index.ts'

/** The packages of e-mail and password, whatever the database. */
export const passwordNeed: PeerNeed = {
  of: "the brick 'auth'",
  peers: {
    from: import.meta.url,
    packages: ['argon2', 'jsonwebtoken', 'jwa', 'rate-limiter-flexible'],
    native: ['argon2'],
  },
}

export const argon2 = loadPeer<typeof Argon2>('argon2', passwordNeed)
export const jwt = loadPeer<typeof JsonWebToken>('jsonwebtoken', passwordNeed)
export const jwa = loadPeer<typeof Jwa>('jwa', passwordNeed)
export const rateLimiters = loadPeer<typeof RateLimiterFlexible>('rate-limiter-flexible', passwordNeed)
