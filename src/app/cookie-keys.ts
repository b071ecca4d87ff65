import type { Environment } from '../support/env/environment.ts'
import type { Logger } from '../contracts/logger.ts'
import { StartupError } from '../errors/startup-error.ts'

/** Bytes that a key has at least: as many as its use, HMAC and HKDF, can hold. */
const SHORTEST = 32
/** A random key of 32 characters has far more than these. */
const FEWEST_CHARACTERS = 8

/**
 * Judges the option `keys`: a list of secrets, of which the first signs and encrypts, and all verify and decrypt.
 * A weak one is refused in production and is a warning elsewhere. No message shows a key.
 * @throws StartupError (`MORTAR_COOKIE_KEYS`)
 */
export function checkCookieKeys(
  keys: readonly string[] | undefined,
  environment: Environment,
  logger: Logger,
): readonly string[] | undefined {
  if (keys === undefined) return undefined
  if (!isList(keys)) throw wrong('is not a list of strings with at least one')
  const weak = keys.findIndex(isWeak)
  if (weak === -1) return [...keys]
  const found = `has a weak key at position ${weak + 1}: fewer than ${SHORTEST} bytes, or few different characters`
  if (environment === 'production') throw wrong(found)
  if (environment === 'development') logger.warn(`The option keys ${found}. Production refuses it.`)
  return [...keys]
}

function isList(keys: unknown): keys is readonly string[] {
  return Array.isArray(keys) && keys.length > 0 && keys.every((key) => typeof key === 'string' && key !== '')
}

function isWeak(key: string): boolean {
  return Buffer.byteLength(key) < SHORTEST || new Set(key).size < FEWEST_CHARACTERS
}

function wrong(found: string): StartupError {
  return new StartupError(`The option keys ${found}.`, {
    code: 'MORTAR_COOKIE_KEYS',
    remedy: 'Give random keys, each from `openssl rand -base64 32`: keys: env.list("COOKIE_KEYS").',
  })
}
