import { createSecretKey, hkdfSync } from 'node:crypto'
import type { StartupError, Environment } from 'mortar'
import { weaknessOfSecret } from 'mortar/kit'
import { fault } from '../startup-codes.ts'

const REMEDY =
  'Put a random secret into AUTH_SECRET. This command makes one: ' +
  `node -e "console.log(require('node:crypto').randomBytes(32).toString('base64url'))".`

/** One secret or several: the first signs, all verify, so that a secret can be replaced without ending sessions. */
export type Secret = string | readonly string[]

/** Keys for each purpose, derived from the secret. The first of a list signs. */
export type AuthKeys = ReturnType<typeof deriveKeys>

/** A key for texts that the database stores sealed. */
export interface SealKey {
  readonly id: string
  readonly key: Buffer
}

/**
 * Derives a key per purpose from each secret (HKDF-SHA256, RFC 5869), so that a value made for one purpose is useless
 * for another.
 * @throws StartupError `MORTAR_AUTH_SECRET` without a secret.
 */
export function deriveKeys(secret: Secret) {
  const secrets = listOf(secret)
  return {
    /** HS256 keys of access tokens. */
    access: secrets.map((each) => createSecretKey(derive(each, 'access-token'))),
    /** Keys for the successors of refresh tokens. */
    refresh: secrets.map((each) => derive(each, 'refresh-token')),
    /** Key that hides addresses and IPs in the counters of the rate limits. */
    limits: derive(secrets[0]!, 'rate-limit'),
    /** Keys of the marks in device cookies. */
    device: secrets.map((each) => derive(each, 'device-cookie')),
    /** Keys of sealed texts, each with an id that does not reveal it. */
    seal: secrets.map((each) => ({
      id: derive(each, 'seal-id').subarray(0, 8).toString('hex'),
      key: derive(each, 'seal'),
    })),
  }
}

/**
 * Checks the strength of a secret by the rule of `mortar doctor`: too short, few different characters, a placeholder. A
 * weak secret gives a warning that does not contain it.
 * @throws StartupError `MORTAR_AUTH_SECRET` for a missing secret, and in production for a weak one.
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

/** Returns the distinct secrets. An empty one in a list is refused: anybody could sign with it. */
function listOf(secret: unknown): string[] {
  const secrets: unknown[] = Array.isArray(secret) ? secret : [secret]
  const isSecret = (each: unknown): each is string => typeof each === 'string' && each.trim() !== ''
  if (secrets.length === 0) throw refusal('AUTH_SECRET is missing or empty: the list has no entry.')
  if (!secrets.every(isSecret)) throw refusal(`AUTH_SECRET is missing or empty${entryOf(secrets, isSecret)}.`)
  return [...new Set(secrets)]
}

/** Names the first faulty entry of a list. */
function entryOf(secrets: readonly unknown[], isSecret: (each: unknown) => boolean): string {
  return secrets.length === 1 ? '' : `: entry ${secrets.findIndex((each) => !isSecret(each)) + 1} of the list`
}

function derive(secret: string, purpose: string): Buffer {
  return Buffer.from(hkdfSync('sha256', secret, 'mortar/auth', purpose, 32))
}

function refusal(found: string): StartupError {
  return fault('MORTAR_AUTH_SECRET', found, { remedy: REMEDY })
}
