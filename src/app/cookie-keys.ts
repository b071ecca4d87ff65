import type { Environment } from '../support/env/environment.ts'
import type { Logger } from '../contracts/logger.ts'
import { StartupError } from '../errors/startup-error.ts'

/** Minimum bytes of a key. It is used for HMAC and HKDF. */
const SHORTEST = 32
/** Minimum number of different characters. A random key of 32 characters has far more. */
const FEWEST_CHARACTERS = 8

/**
 * Checks the option `keys`: a list of secrets. The first key signs and encrypts; all keys verify and decrypt. A weak
 * key is refused in production and causes a warning elsewhere. Messages never show a key.
 * @throws StartupError (`MORTAR_COOKIE_KEYS`)
 */
export function checkCookieKeys(
  keys: readonly string[] | undefined,
  environment: Environment,
  logger: Logger,
): readonly string[] | undefined {
  if (keys === undefined) return undefined
  if (!isList(keys)) throw wrong('is not a list of at least one non-empty string')
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
    remedy: 'Use random keys, each from `openssl rand -base64 32`: keys: env.list("COOKIE_KEYS").',
  })
}
