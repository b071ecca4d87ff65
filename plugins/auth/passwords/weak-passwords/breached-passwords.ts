import { createHash } from 'node:crypto'
import { seconds, StartupError, type Duration, type Logger } from '../../../../src/index.ts'

/** Settings of the look-up in known data breaches. */
export interface BreachedPasswordsOptions {
  /** Seconds or a duration; 1 second by default. After it the password passes. */
  readonly timeout?: Duration
  /** A range endpoint of the same protocol, such as a mirror of one's own; the first five digits are appended to it. */
  readonly url?: string
  /** By default the global `fetch`. */
  readonly fetch?: typeof globalThis.fetch
}

/** True for a password that is known to be in a data breach, false for any other and when the service fails. */
export type IsBreached = (password: string) => Promise<boolean>

const RANGES = 'https://api.pwnedpasswords.com/range/'
const PREFIX_LENGTH = 5

/**
 * Makes the look-up in Pwned Passwords. Only the first five of 40 hexadecimal digits of the password's SHA-1 leave the
 * process (k-anonymity), and `Add-Padding` hides from the network how many entries came back. A service that fails or
 * is slow lets the password pass and gives a warning: an outage elsewhere must not stop signups (ASVS 6.2.12).
 * @throws StartupError `MORTAR_AUTH_OPTION` for a timeout or an address that cannot be read.
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
      if (!response.ok) throw new Error(`The service answered ${response.status}.`)
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

/** Not the message, which may hold the address that was asked. */
function reasonOf(error: unknown): string {
  if (!(error instanceof Error)) return typeof error
  return error.message.startsWith('The service answered') ? error.message : error.name
}

function timeoutOf({ timeout = '1s' }: BreachedPasswordsOptions): number {
  try {
    const length = seconds(timeout) * 1000
    if (length > 0 && length <= 60_000) return length
  } catch {
    // Refused below, with the name of the option.
  }
  throw wrong('timeout', `is '${String(timeout)}'`)
}

function wrong(option: string, found: string): StartupError {
  return new StartupError(`The option breachedPasswords.${option} of the auth provider ${found}.`, {
    code: 'MORTAR_AUTH_OPTION',
    remedy: "Write { timeout: '1s' }, up to a minute, and the https address of a range service, or true.",
    brick: 'auth',
  })
}
