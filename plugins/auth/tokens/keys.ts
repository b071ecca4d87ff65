import { createSecretKey, hkdfSync, type KeyObject } from 'node:crypto'
import { StartupError, weaknessOfSecret, type Environment } from '../../../src/index.ts'

const REMEDY =
  'Put a random secret into AUTH_SECRET. This command makes one: ' +
  `node -e "console.log(require('node:crypto').randomBytes(32).toString('base64url'))".`

/** One secret, or several: the first signs, all verify, so that a secret can be replaced without logging anybody out. */
export type Secret = string | readonly string[]

/** Keys for each purpose, derived from the secret. In a list the first is the one that signs. */
export interface AuthKeys {
  /** HS256 keys of access tokens. */
  readonly access: readonly KeyObject[]
  /** Keys that make the successor of a refresh token. */
  readonly refresh: readonly Buffer[]
  /** Key that hides addresses and IPs in the counters of the rate limits. */
  readonly limits: Buffer
  /** Keys of the marks in device cookies. */
  readonly device: readonly Buffer[]
}

/**
 * Derives a key per purpose from each secret (HKDF-SHA256, RFC 5869), so that no value made for one purpose is
 * worth anything for another.
 * @throws StartupError `MORTAR_AUTH_SECRET` when there is no secret.
 */
export function deriveKeys(secret: Secret): AuthKeys {
  const secrets = listOf(secret)
  return {
    access: secrets.map((each) => createSecretKey(derive(each, 'access-token'))),
    refresh: secrets.map((each) => derive(each, 'refresh-token')),
    limits: derive(secrets[0]!, 'rate-limit'),
    device: secrets.map((each) => derive(each, 'device-cookie')),
  }
}

/**
 * Judges a secret before anything is built on it, by the rule of `mortar doctor`: too short, few different characters, a
 * placeholder. A weak one gives a warning, without the secret in it.
 * @throws StartupError `MORTAR_AUTH_SECRET` when there is none, or in production a weak one.
 */
export function checkSecret(secret: Secret | undefined, environment: Environment): { warning?: string } {
  const weakness = listOf(secret)
    .map(weaknessOfSecret)
    .find((each) => each !== undefined)
  if (weakness === undefined) return {}
  const found = `AUTH_SECRET ${weakness}.`
  if (environment === 'production') throw refusal(found)
  return { warning: `${found} Production will not start with it. ${REMEDY}` }
}

/** The distinct secrets. An empty one in a list is refused too: it would verify what anybody can sign. */
function listOf(secret: unknown): string[] {
  const secrets: unknown[] = Array.isArray(secret) ? secret : [secret]
  const isSecret = (each: unknown): each is string => typeof each === 'string' && each.trim() !== ''
  if (secrets.length === 0 || !secrets.every(isSecret)) throw refusal('AUTH_SECRET is missing or empty.')
  return [...new Set(secrets)]
}

function derive(secret: string, purpose: string): Buffer {
  return Buffer.from(hkdfSync('sha256', secret, 'mortar/auth', purpose, 32))
}

function refusal(found: string): StartupError {
  return new StartupError(found, { code: 'MORTAR_AUTH_SECRET', remedy: REMEDY, brick: 'auth' })
}
