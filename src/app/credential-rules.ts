import { CREDENTIAL_SOURCES, type CredentialRules } from '../context/credential.ts'
import type { Authenticator, Credential, SecurityScheme } from '../contracts/authenticator.ts'
import { wrongOption } from '../support/check-options.ts'
import { didYouMean } from '../support/nearest.ts'

interface CredentialOptions {
  readonly credentials: readonly Credential['source'][]
  readonly tokenCookie: string
}

/**
 * Checks the option `credentials` of `createApp`; all sources by default.
 * @throws StartupError `MORTAR_OPTION` for something that is not a list of `header`, `cookie` and `query`, or is empty.
 */
export function checkCredentials(given: unknown = CREDENTIAL_SOURCES): readonly Credential['source'][] {
  const list = `Write some of ${CREDENTIAL_SOURCES.map((name) => `'${name}'`).join(', ')}.`
  if (!Array.isArray(given) || given.length === 0)
    throw wrongOption('credentials', 'is not a list with at least one source', list)
  const unknown = given.filter((source) => CREDENTIAL_SOURCES.every((known) => known !== source)).map(String)
  if (unknown.length === 0) return [...(given as Credential['source'][])]
  const remedy = didYouMean(unknown[0]!, CREDENTIAL_SOURCES, list)
  throw wrongOption('credentials', `has the unknown source '${unknown[0]}'`, remedy)
}

/**
 * Checks the option `tokenCookie` of `createApp`. No cookie can have a name outside the grammar of RFC 6265 §4.1.1, and
 * an empty name matches cookies without a name.
 * @throws StartupError `MORTAR_OPTION`
 */
export function checkTokenCookie(name = 'access_token'): string {
  if (/^[\w!#$%&'*+.^`|~-]+$/.test(name)) return name
  const remedy = "Use letters, digits, '-' and '_', such as access_token."
  throw wrongOption('tokenCookie', `is not a valid cookie name: '${name}'`, remedy)
}

/** Returns the places where requests may carry their credential. */
export function credentialRules(
  { credentials, tokenCookie }: CredentialOptions,
  authenticator: Authenticator | undefined,
): CredentialRules {
  return { sources: credentials, cookies: [tokenCookie, ...[authenticator?.cookie ?? []].flat()] }
}

/** The scheme of the OpenAPI document: the authenticator's, or the cookie or parameter if the header is not read. */
export function documentedScheme(
  options: CredentialOptions,
  authenticator: Authenticator | undefined,
): SecurityScheme | undefined {
  if (authenticator === undefined || options.credentials.includes('header'))
    return authenticator?.securityScheme
  const { name } = authenticator.securityScheme
  if (!options.credentials.includes('cookie'))
    return { name, scheme: { type: 'apiKey', in: 'query', name: 'access_token' } }
  const cookie = [authenticator.cookie ?? options.tokenCookie].flat()[0]!
  return { name, scheme: { type: 'apiKey', in: 'cookie', name: cookie } }
}
