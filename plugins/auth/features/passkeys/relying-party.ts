import { wrongOption } from '../../options/wrong-option.ts'

/** The application as authenticators know it: a domain, and the origins of its pages. */
export interface RelyingParty {
  readonly id: string
  readonly name: string
  readonly origins: readonly string[]
}

/** Options that make a relying party. */
export interface RelyingPartyOptions {
  readonly rpId?: string | undefined
  readonly rpName?: string | undefined
  readonly origins?: readonly string[] | undefined
}

/** A domain as browsers compare it: lower case, no port, no IP address. */
const DOMAIN = /^(?=.{1,253}$)(?:[a-z0-9](?:[a-z0-9-]*[a-z0-9])?\.)*[a-z](?:[a-z0-9-]*[a-z0-9])?$/
const LOCAL = /^(?:.+\.)?localhost$/

/**
 * Returns the relying party of an application. `address` is its public address, which is read without an option alone.
 * @throws StartupError `MORTAR_AUTH_OPTION` for a domain or an origin for which no browser makes a passkey.
 */
export function relyingParty(
  { rpId, rpName, origins }: RelyingPartyOptions,
  address: () => string,
): RelyingParty {
  const id = rpId ?? new URL(address()).hostname
  if (!DOMAIN.test(id))
    throw wrongOption(
      `rpId of passkeys() is '${id}', which is not a domain`,
      "Write the domain of your pages without scheme and port, such as 'example.com'. On your machine set appUrl to http://localhost and the port.",
    )
  const own = origins ?? [new URL(address()).origin]
  if (!Array.isArray(own) || own.length === 0)
    throw wrongOption('origins of passkeys() is not a list of origins', "Write ['https://example.com'].")
  for (const origin of own) checkOrigin(origin, id)
  return { id, name: rpName ?? id, origins: own }
}

/** Browsers use a passkey on pages of its domain and of subdomains, over https or on localhost (WebAuthn §5.1.3). */
function checkOrigin(origin: unknown, id: string): void {
  const url = typeof origin === 'string' && URL.canParse(origin) ? new URL(origin) : undefined
  if (url === undefined || url.origin !== origin)
    throw wrongOption(
      `origins of passkeys() has '${String(origin)}', which is not an origin`,
      "Write scheme, host and port without a path: 'https://example.com'.",
    )
  const { protocol, hostname } = url
  if (protocol !== 'https:' && !(protocol === 'http:' && LOCAL.test(hostname)))
    throw wrongOption(
      `origins of passkeys() has '${origin}', which is neither https nor localhost`,
      'Browsers have passkeys on secure pages alone: set appUrl or origins to an https address.',
    )
  if (hostname !== id && !hostname.endsWith(`.${id}`))
    throw wrongOption(
      `origins of passkeys() has '${origin}', which is not on the domain of rpId, '${id}'`,
      'Set rpId to the domain of the origins, or to one that they all end with.',
    )
}
