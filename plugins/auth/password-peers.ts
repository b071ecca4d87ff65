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

/*
 * Packages that only some requests need. jsonwebtoken (60 files) and jwa are loaded by the first such request, or by
 * `loadPasswordPeers` shortly after the start. rate-limiter-flexible (36 files) is loaded for limits in Redis only.
 */

/** Signs tokens. */
export const loadJsonWebToken = once(() => loadPeer<typeof JsonWebToken>('jsonwebtoken', passwordNeed))
/** Checks the signatures of tokens. */
export const loadJwa = once(() => loadPeer<typeof Jwa>('jwa', passwordNeed))
/** Limits that are shared in Redis. */
export const loadRateLimiters = once(() =>
  loadPeer<typeof RateLimiterFlexible>('rate-limiter-flexible', passwordNeed),
)

/**
 * Loads the packages that the first request would otherwise wait for. Never throws: a request that needs a missing
 * package reports it.
 */
export function loadPasswordPeers(): void {
  try {
    loadJsonWebToken()
    loadJwa()
  } catch {
    // The request that needs it throws the same.
  }
}

function once<T>(load: () => T): () => T {
  let loaded: { readonly value: T } | undefined
  return () => (loaded ??= { value: load() }).value
}
