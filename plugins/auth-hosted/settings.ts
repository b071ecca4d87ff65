import { StartupError, type Duration, type Environment } from 'mortar'
import { milliseconds } from 'mortar/kit'
import { requireAddress, resolveIssuers, wrongAddress } from './issuers.ts'
import { ALGORITHMS, type HostedAuthOptions } from './options.ts'

/** Options with defaults. Times in milliseconds. */
export type HostedSettings = ReturnType<typeof resolveSettings>

const DAY = 86_400_000

/**
 * Checks the options of a hosted provider.
 * @throws StartupError `MORTAR_AUTH_ISSUER`, `MORTAR_AUTH_AUDIENCE` or `MORTAR_AUTH_OPTION`, naming the option.
 */
export function resolveSettings(options: HostedAuthOptions) {
  const { issuer, jwksUrl, audienceClaim = 'aud', types } = options ?? {}
  if (jwksUrl !== undefined) requireAddress('jwksUrl', jwksUrl)
  const issuers = resolveIssuers(issuer, jwksUrl)
  const audience = [options.audience ?? []].flat()
  const authorizedParties = [...(options.authorizedParties ?? [])]
  requireAudience(audience, authorizedParties)
  return {
    issuers,
    jwksUrl,
    audience,
    audienceClaim,
    authorizedParties,
    claims: Object.fromEntries(
      Object.entries(options.claims ?? {}).map(([name, values]) => [name, [values].flat()]),
    ),
    algorithms: algorithmsOf(options),
    /** Lower case, without `application/`; undefined for the default. */
    types: types && new Set(types.map(plainType)),
    clockTolerance: duration('clockTolerance', options.clockTolerance ?? 5, [0, 300_000]),
    timeout: duration('timeout', options.timeout ?? '5s', [1, 60_000]),
    keyLifetime: duration('keyLifetime', options.keyLifetime ?? '10m', [1000, DAY]),
    coolDown: duration('coolDown', options.coolDown ?? '5s', [0, DAY]),
  }
}

/** `application/at+jwt` and `at+JWT` are `at+jwt` (RFC 7515 §4.1.9). */
export function plainType(type: string): string {
  return type.toLowerCase().replace(/^application\//, '')
}

/**
 * Requires TLS for the key address: without it anybody on the path could replace the keys.
 * @throws StartupError `MORTAR_AUTH_ISSUER` in production for an address that is not https.
 */
export function requireHttps({ issuers, jwksUrl }: HostedSettings, environment: Environment): void {
  if (environment !== 'production') return
  // With jwksUrl the issuers' addresses are not fetched.
  const [name, addresses] = jwksUrl === undefined ? ['issuer', issuers] : ['jwksUrl', [jwksUrl]]
  const plain = addresses.find((address) => new URL(address).protocol !== 'https:')
  if (plain !== undefined)
    throw wrongAddress(name, `is '${plain}', and production takes keys over https only`)
}

/** Without audience and authorizedParties, tokens for any other application would be accepted. */
function requireAudience(audience: readonly string[], parties: readonly string[]): void {
  const isText = (text: unknown): boolean => typeof text === 'string' && text !== ''
  if (audience.length + parties.length > 0 && [...audience, ...parties].every(isText)) return
  throw new StartupError('hostedAuth() has neither `audience` nor `authorizedParties`.', {
    code: 'MORTAR_AUTH_AUDIENCE',
    remedy:
      'Set `audience` to the audience of this application, or set `authorizedParties`. Neither may be empty.',
    brick: 'auth',
  })
}

function algorithmsOf({ algorithms = ['RS256', 'ES256', 'EdDSA'] }: HostedAuthOptions): string[] {
  const wrong = algorithms.find((algorithm) => !ALGORITHMS.includes(algorithm))
  if (wrong !== undefined || algorithms.length === 0)
    throw wrongOption('algorithms', wrong ?? 'an empty list', `some of ${ALGORITHMS.join(', ')}`)
  // Two names of one algorithm (RFC 9864).
  return algorithms.includes('EdDSA') ? [...algorithms, 'Ed25519'] : [...algorithms]
}

function duration(name: string, value: Duration, [least, most]: readonly [number, number]): number {
  const length = milliseconds(value)
  if (length >= least && length <= most) return length
  throw wrongOption(
    name,
    value,
    `seconds or a duration such as '5s', from ${least / 1000} to ${most / 1000} seconds`,
  )
}

function wrongOption(name: string, value: unknown, write: string): StartupError {
  return new StartupError(`The option ${name} of hostedAuth() is '${String(value)}', which is not valid.`, {
    code: 'MORTAR_AUTH_OPTION',
    remedy: `Write ${write}.`,
    brick: 'auth',
  })
}
