import { StartupError } from 'mortar'

const TENANT = '{tenantid}'
/** A tenant id or name that is safe inside an address. */
const TENANT_ID = /^(?!\.+$)[A-Za-z0-9.-]{1,64}$/

/**
 * Returns the issuers of the option `issuer` as a list.
 * @throws StartupError `MORTAR_AUTH_ISSUER` for an empty list, for an issuer that a token cannot contain, and without
 * `jwksUrl` for an issuer that is not an address.
 */
export function resolveIssuers(issuer: unknown, jwksUrl: string | undefined): readonly string[] {
  const issuers: unknown[] = Array.isArray(issuer) ? [...new Set(issuer as unknown[])] : [issuer]
  if (issuers.length === 0) throw wrongAddress('issuer', 'is an empty list')
  for (const each of issuers) checkIssuer(each, jwksUrl)
  return issuers as string[]
}

function checkIssuer(issuer: unknown, jwksUrl: string | undefined): void {
  if (jwksUrl === undefined) {
    requireAddress('issuer', issuer)
    if (String(issuer).includes(TENANT)) throw wrongAddress('issuer', `has ${TENANT}, and jwksUrl is missing`)
  } else if (typeof issuer !== 'string' || !/^[\x21-\x7e]+$/.test(issuer))
    throw wrongAddress('issuer', issuer === undefined ? 'is missing' : `is '${issuer as string}'`)
  else if (/^https?:/i.test(issuer)) requireAddress('issuer', issuer)
}

/**
 * Finds the issuer of the list that equals a token's `iss`, or returns undefined. `{tenantid}` matches only the claim
 * `tid` of the same token.
 */
export function findIssuer(issuers: readonly string[], iss: unknown, tid: unknown): string | undefined {
  return issuers.find((issuer) =>
    issuer.includes(TENANT)
      ? typeof tid === 'string' && TENANT_ID.test(tid) && iss === issuer.replaceAll(TENANT, tid)
      : iss === issuer,
  )
}

/** @throws StartupError `MORTAR_AUTH_ISSUER` for a value that is not an absolute http or https address. */
export function requireAddress(name: string, address: unknown): void {
  const url = typeof address === 'string' && URL.canParse(address) ? new URL(address) : undefined
  if (url?.protocol !== 'https:' && url?.protocol !== 'http:')
    throw wrongAddress(name, `is ${address === undefined ? 'missing' : `'${address as string}'`}`)
  if (url.username !== '' || url.password !== '' || url.hash !== '')
    throw wrongAddress(name, 'holds a user, a password or a fragment')
}

/** Makes the error for an unusable address. */
export function wrongAddress(name: string, what: string): StartupError {
  return new StartupError(`The option ${name} of hostedAuth() ${what}.`, {
    code: 'MORTAR_AUTH_ISSUER',
    remedy:
      `Write the absolute address, such as 'https://sign-in.example.com'; for the issuer exactly as 'iss' of a token. ` +
      'An issuer that is not an address, or has {tenantid}, needs jwksUrl.',
    brick: 'auth',
  })
}
