import type { LocalJWKSet } from 'jose'
import { isObject } from 'mortar/kit'
import { fetchJson, UnusableAnswer } from './fetch-json.ts'
import { loadJose } from './jose.ts'

/** Location of a provider's keys. */
export interface KeyLocation {
  readonly issuer: string
  readonly jwksUrl: string | undefined
  /** True if the key address in the provider's metadata must be https. */
  readonly httpsOnly: boolean
}

const MOST_KEYS = 100

/**
 * Fetches the published keys of a provider (RFC 7517 §5), from `jwksUrl` or from the address in its metadata (OpenID
 * Connect Discovery 1.0 §4).
 * @throws UnusableAnswer for metadata of another issuer, a bad address, or a body that is not a list of keys.
 */
export async function loadKeys(location: KeyLocation, signal: AbortSignal): Promise<LocalJWKSet> {
  const url = location.jwksUrl ?? (await discover(location, signal))
  const { keys } = await fetchJson(url, signal)
  if (!Array.isArray(keys) || keys.length > MOST_KEYS)
    throw new UnusableAnswer(`${url} does not return a list of at most ${MOST_KEYS} keys`)
  const { createLocalJWKSet } = await loadJose()
  // jose checks each key and uses only public keys of the algorithm's type.
  return createLocalJWKSet({ keys: keys.filter(isObject) })
}

async function discover({ issuer, httpsOnly }: KeyLocation, signal: AbortSignal): Promise<string> {
  const url = `${issuer.replace(/\/$/, '')}/.well-known/openid-configuration`
  const metadata = await fetchJson(url, signal)
  // Discovery §4.3: otherwise another issuer's keys could verify this issuer's tokens.
  if (metadata['issuer'] !== issuer) throw new UnusableAnswer(`${url} tells of another issuer than ${issuer}`)
  const { jwks_uri: address } = metadata
  const protocol = typeof address === 'string' && URL.canParse(address) ? new URL(address).protocol : ''
  if (protocol !== 'https:' && (httpsOnly || protocol !== 'http:'))
    throw new UnusableAnswer(`${url} names no address of keys that may be used`)
  return address as string
}
