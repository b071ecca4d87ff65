import { CREDENTIAL_SOURCES, type CredentialRules } from '../context/credential.ts'
import type { Authenticator, Credential, SecurityScheme } from '../contracts/authenticator.ts'
import { StartupError } from '../errors/startup-error.ts'
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
  if (!Array.isArray(given) || given.length === 0)
    throw wrong('is not a list with at least one source', `Write some of ${quoted(CREDENTIAL_SOURCES)}.`)
  for (const source of given as unknown[]) {
    if (CREDENTIAL_SOURCES.some((known) => known === source)) continue
    const list = `Write some of ${quoted(CREDENTIAL_SOURCES)}.`
    throw wrong(
      `has the unknown source '${String(source)}'`,
      didYouMean(String(source), CREDENTIAL_SOURCES, list),
    )
  }
  return [...(given as Credential['source'][])]
}

/**
 * Checks the option `tokenCookie` of `createApp`. No cookie can have a name outside the grammar of RFC 6265 §4.1.1, and
 * an empty name matches cookies without a name.
 * @throws StartupError `MORTAR_OPTION`
 */
export function checkTokenCookie(name = 'access_token'): string {
  if (/^[\w!#$%&'*+.^`|~-]+$/.test(name)) return name
  throw new StartupError(`The option tokenCookie is not a valid cookie name: '${name}'.`, {
    code: 'MORTAR_OPTION',
    remedy: "Use letters, digits, '-' and '_', such as access_token.",
  })
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

function quoted(names: readonly string[]): string {
  return names.map((name) => `'${name}'`).join(', ')
}

function wrong(found: string, remedy: string): StartupError {
  return new StartupError(`The option credentials ${found}.`, { code: 'MORTAR_OPTION', remedy })
}
