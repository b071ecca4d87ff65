import { createHash } from 'node:crypto'
import type { StartupError, Duration, Logger } from 'mortar'
import { milliseconds } from 'mortar/kit'
import { fault } from '../../startup-codes.ts'

/** Settings of the look-up in known data breaches. */
export interface BreachedPasswordsOptions {
  /** Seconds or a duration; 1 second by default. After it the password is accepted. */
  readonly timeout?: Duration
  /** A range endpoint of the same protocol, such as a private mirror; the first five digits are appended. */
  readonly url?: string
  /** By default the global `fetch`. */
  readonly fetch?: typeof globalThis.fetch
}

/** True for a password of a known data breach; false for any other, and if the service fails. */
export type IsBreached = (password: string) => Promise<boolean>

const RANGES = 'https://api.pwnedpasswords.com/range/'
const PREFIX_LENGTH = 5

/**
 * Creates the look-up in Pwned Passwords. Only the first five of 40 hexadecimal digits of the password's SHA-1 leave
 * the process (k-anonymity), and `Add-Padding` hides the number of entries from the network. If the service fails or is
 * slow, the password is accepted with a warning: an outage elsewhere must not stop signups (ASVS 6.2.12).
 * @throws StartupError `MORTAR_AUTH_OPTION` for an invalid timeout or address.
 */
export function createBreachedPasswords(options: BreachedPasswordsOptions, logger: Logger): IsBreached {
  const { url = RANGES, fetch = globalThis.fetch } = options
  const timeout = timeoutOf(options)
  if (!URL.canParse(url)) throw wrong('url', 'is not a URL')
  return async (password) => {
    const hash = createHash('sha1').update(password.normalize('NFC')).digest('hex').toUpperCase()
    try {
      const response = await fetch(url + hash.slice(0, PREFIX_LENGTH), {
        headers: { 'Add-Padding': 'true', 'User-Agent': 'mortar' },
        signal: AbortSignal.timeout(timeout),
      })
      if (!response.ok) throw new UnexpectedStatus(`The service responded with ${response.status}.`)
      return lists(await response.text(), hash.slice(PREFIX_LENGTH))
    } catch (error) {
      logger.warn({ reason: reasonOf(error) }, 'A password could not be compared with known data breaches')
      return false
    }
  }
}

/** Lines of `SUFFIX:COUNT`. Padding has the count 0. */
function lists(ranges: string, suffix: string): boolean {
  return ranges.split('\n').some((line) => {
    const [found, count] = line.trim().split(':')
    return found?.toUpperCase() === suffix && Number(count) > 0
  })
}

/** A status other than 2xx. Its message is safe to log. */
class UnexpectedStatus extends Error {}

/** Leaves out other messages, which may contain the requested address. */
function reasonOf(error: unknown): string {
  if (!(error instanceof Error)) return typeof error
  return error instanceof UnexpectedStatus ? error.message : error.name
}

function timeoutOf({ timeout = '1s' }: BreachedPasswordsOptions): number {
  const time = milliseconds(timeout)
  if (time > 0 && time <= 60_000) return time
  throw wrong('timeout', `is '${String(timeout)}'`)
}

function wrong(option: string, found: string): StartupError {
  return fault(
    'MORTAR_AUTH_OPTION',
    `The option breachedPasswords.${option} of the auth provider ${found}.`,
    { remedy: "Write { timeout: '1s' }, up to a minute, and the https address of a range service, or true." },
  )
}
