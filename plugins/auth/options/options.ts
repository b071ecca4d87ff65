import type { AnyObjectSchema } from 'mortar/yup'
import type { StartupError, Duration, Environment } from 'mortar'
import { milliseconds } from 'mortar/kit'
import type { AuthFeature } from '../features/feature.ts'
import type { AccountMail } from '../features/mails.ts'
import type { Secret } from '../tokens/keys.ts'
import type { HashCost } from '../passwords/passwords.ts'
import type { LimitOptions } from '../limits/rate-limits.ts'
import type { WeakPasswordOptions } from '../passwords/weak-passwords/password-judge.ts'
import { fault } from '../startup-codes.ts'

/** Options of both variants with e-mail and password, relational and document. */
export interface PasswordAuthOptions extends WeakPasswordOptions {
  /**
   * At least 32 random bytes, from `AUTH_SECRET`. With a list a secret can be replaced without ending sessions: the first
   * signs, all verify.
   */
  readonly secret: Secret
  /**
   * Sends a reset token to its owner. By default the service `mailer` of the mail brick sends a link. Without that brick,
   * development prints the link to the log.
   */
  readonly sendResetEmail?: (to: string, token: string) => unknown
  /** Public base address of links in mails; by default `appUrl` of the application, never the `Host` header. */
  readonly appUrl?: string
  /**
   * `iss` of access tokens; by default `appUrl`, or `mortar` without it. Two applications that share a secret need
   * different issuers.
   */
  readonly issuer?: string
  /** `aud` of access tokens; by default the issuer. */
  readonly audience?: string
  /** Seconds or a duration; 15 minutes by default. */
  readonly accessTokenLifetime?: Duration
  /**
   * Number of verified access tokens that a process caches from their second use, so that each signature is checked
   * twice; 10,000 by default, 0 for none. A cached token of an ended session is still refused.
   */
  readonly accessTokenCache?: number
  /** Lifetime of a session from its login; a refresh does not extend it. Seconds or a duration; 30 days by default. */
  readonly refreshTokenLifetime?: Duration
  /** Seconds or a duration; 30 minutes by default. */
  readonly resetTokenLifetime?: Duration
  /**
   * Time for which the immediate predecessor of a refresh token still gets the same successor: for two tabs that refresh
   * together, and for lost responses. Seconds or a duration up to a minute; 10 seconds by default, 0 for never.
   */
  readonly refreshGrace?: Duration
  /**
   * Longest time of a session without a refresh, in seconds or as a duration such as `'7d'`; each refresh restarts it
   * (ASVS 7.3.1). It must exceed the lifetime of an access token. By default there is no idle timeout.
   */
  readonly idleTimeout?: Duration
  /** Maximum sessions of a user; a further login ends the oldest one (ASVS 7.1.2). Unlimited by default. */
  readonly maxSessions?: number
  /**
   * Reads session, password version and user in one statement for each request with a credential. An ended session, a
   * disabled account and a changed row then take effect with the next request.
   */
  readonly freshSession?: boolean
  /**
   * Age up to which this process uses its list of sessions that other processes ended, when a slow database delays the
   * reads. With an older list guarded routes respond 503 `session_state_unknown`, or with `freshSession` look up each
   * session. 1 to 60 seconds, or a duration; 3 seconds by default.
   */
  readonly staleAfter?: Duration
  /**
   * Columns of `auth_users` (of `documentAuth` fields) that may be in `user.raw` although their names look secret:
   * `['country_code']`.
   */
  readonly publicColumns?: readonly string[]
  /**
   * Fields of the signup besides name, address and password: `yup.object({ company: yup.string().max(100) })`. Each is
   * stored in the column of `auth_users`, or the field of `userFields`, of the same name.
   */
  readonly signUpFields?: AnyObjectSchema
  /** Changes to the rate limits; `false` switches all of them off. */
  readonly limits?: LimitOptions | false
  /** Cost of a password hash: memory in KiB, passes, lanes. By default 19,456 KiB, 2 and 1, the minimum for production. */
  readonly cost?: Partial<HashCost>
  /** Name of the refresh cookie, before the prefix `__Host-`; `mortar_refresh` by default. */
  readonly cookieName?: string
  /**
   * Makes the refresh cookie `Secure`, with the prefix `__Host-`. By default true in production and if `appUrl` is https.
   */
  readonly secureCookie?: boolean
  /**
   * Gives a device cookie to a browser that signed in, so that its failed logins are counted apart from those of
   * strangers. True by default.
   */
  readonly deviceCookie?: boolean
  /**
   * Features besides e-mail and password, each from an entry of its own: `recent()` from `@mortar/auth/recent`. None by
   * default.
   */
  readonly features?: readonly AuthFeature[]
  /** Sends the mails of features, composed or in words of your own; by default the service `mailer` sends them. */
  readonly sendMail?: (mail: AccountMail) => unknown
  /** Logs each event of the brick as a line; true by default. */
  readonly logEvents?: boolean
}

/** Lifetimes in seconds. */
export type ResolvedLifetimes = ReturnType<typeof resolveLifetimes>

const DAY = 86_400

/** A token of RFC 6265 §4.1.1. Browsers drop a cookie with a prefix over http; the other names are of other cookies. */
const COOKIE_NAME = /^(?!__(?:host|secure|http)-|mortar_(?:device$|social_))[!#$%&'*+.^_`|~\w-]+$/i

/** @throws StartupError `MORTAR_AUTH_OPTION` for an invalid cookie name or address, or size of the token cache. */
export function checkValues(options: PasswordAuthOptions): void {
  const { cookieName, appUrl, accessTokenCache = 0, ...names } = options
  if (!Number.isSafeInteger(accessTokenCache) || accessTokenCache < 0)
    throw wrong('accessTokenCache', `is ${accessTokenCache}`, 'Write a whole number, 0 for none.')
  // An empty value would be the same for every application that shares the secret.
  for (const option of ['issuer', 'audience'] as const)
    if (names[option] === '')
      throw wrong(option, 'is empty', 'Write a name, or leave it out: appUrl is the default.')
  if (cookieName !== undefined && !COOKIE_NAME.test(cookieName))
    throw wrong('cookieName', 'is invalid, in use or begins with __Host-', 'Write letters, digits, _ and -.')
  if (appUrl !== undefined && !/^https?:$/.test(URL.canParse(appUrl) ? new URL(appUrl).protocol : ''))
    throw wrong(
      'appUrl',
      'is not an http or https URL',
      "Write an address such as 'https://app.example.com'.",
    )
}

/** @throws StartupError `MORTAR_AUTH_OPTION` for an invalid lifetime. */
export function resolveLifetimes(options: PasswordAuthOptions) {
  const {
    accessTokenLifetime,
    refreshTokenLifetime,
    resetTokenLifetime,
    refreshGrace,
    idleTimeout,
    staleAfter,
  } = options
  const access = lifetime('accessTokenLifetime', accessTokenLifetime ?? '15m', 1, DAY)
  return {
    /** Lifetime of an access token. */
    access,
    // A client refreshes when its access token expires, so a shorter time would end sessions in use.
    /** Idle timeout: the longest time without a refresh; undefined for none. */
    idle: idleTimeout === undefined ? undefined : lifetime('idleTimeout', idleTimeout, access + 1, 400 * DAY),
    /** Lifetime of a session from its login; rotation does not extend it. */
    session: lifetime('refreshTokenLifetime', refreshTokenLifetime ?? '30d', 1, 400 * DAY),
    resetToken: lifetime('resetTokenLifetime', resetTokenLifetime ?? '30m', 1, DAY),
    /** Time in which the immediate predecessor of a refresh token still gets the current one. */
    grace: lifetime('refreshGrace', refreshGrace ?? '10s', 0, 60),
    /** Age from which on the list of ended sessions is too old to be used. */
    staleAfter: lifetime('staleAfter', staleAfter ?? '3s', 1, 60),
  }
}

/** Returns seconds, from 0 or whole. @throws StartupError `MORTAR_AUTH_OPTION` for a value that is not in the range. */
export function lifetime(option: string, value: Duration, least: number, most: number): number {
  const length = milliseconds(value) / 1000
  if (length >= least && length <= most) return length === 0 ? 0 : Math.max(1, Math.floor(length))
  const remedy = `Write seconds or a duration such as '15m', from ${least} to ${most} seconds.`
  throw wrong(option, `is '${value}'`, remedy)
}

function wrong(option: string, found: string, remedy: string): StartupError {
  return fault('MORTAR_AUTH_OPTION', `The option ${option} of the auth provider ${found}.`, { remedy })
}

/**
 * Returns the base address of reset links without a final slash. Outside production it is optional.
 * @throws StartupError `MORTAR_AUTH_APP_URL` in production if it is missing.
 */
export function linkBase(appUrl: string | undefined, environment: Environment): string {
  if (appUrl !== undefined) return appUrl.replace(/\/+$/, '')
  if (environment !== 'production') return 'http://localhost:3000'
  throw fault(
    'MORTAR_AUTH_APP_URL',
    'Links in mails need the public address of the application, and appUrl is not set.',
    {
      remedy:
        'Set appUrl in the options of createApp, from APP_URL, or pass basicAuth() a sendResetEmail and emailVerification() a url.',
    },
  )
}
