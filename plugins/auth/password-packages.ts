import { createRequire } from 'node:module'
import type * as Argon2 from 'argon2'
import type * as JsonWebToken from 'jsonwebtoken'
import type Jwa from 'jwa'
import type { Peers } from 'mortar/kit'

/*
 * Packages that only some requests need. jsonwebtoken (60 files) and jwa are loaded by the first such request, or by
 * `loadForFirstRequest` shortly after the start.
 */
const require = createRequire(import.meta.url)

/** argon2 has a compiled part, which the start checks. */
export const PASSWORD_PEERS: Peers = { from: import.meta.url, native: ['argon2'] }

/** Hashes passwords. */
export const loadArgon2 = (): typeof Argon2 => require('argon2') as typeof Argon2
/** Signs tokens. */
export const loadJsonWebToken = (): typeof JsonWebToken => require('jsonwebtoken') as typeof JsonWebToken
/** Checks the signatures of tokens. */
export const loadJwa = (): typeof Jwa => require('jwa') as typeof Jwa

/** Milliseconds after the start, so that later packages do not delay the first requests. */
export const LOADING_DELAY = 1000

/** Loads the packages that the first request would otherwise wait for. */
export function loadForFirstRequest(): void {
  loadJsonWebToken()
  loadJwa()
}
