import {
  errors,
  type CryptoKey,
  type FlattenedJWSInput,
  type JWSHeaderParameters,
  type LocalJWKSet,
} from 'jose'
import { ServiceUnavailable, type Clock } from '../../../src/index.ts'

/** Settings of `createPublishedKeys`; times in milliseconds. */
export interface PublishedKeysOptions {
  /** Fetches all keys; gives up when the signal aborts. */
  readonly load: (signal: AbortSignal) => Promise<LocalJWKSet>
  readonly clock: Clock
  readonly timeout: number
  readonly lifetime: number
  readonly coolDown: number
}

/** The keys of a provider, which change. */
export interface PublishedKeys {
  /**
   * @returns the key of a token's header, or null when the provider publishes none that fits.
   * @throws ServiceUnavailable 503 when that cannot be found out now.
   */
  find(header: JWSHeaderParameters, token: FlattenedJWSInput): Promise<CryptoKey | null>
  /** Gives up on what is being fetched. */
  close(): void
}

/** How long a key server that failed is left alone. */
const REST = 1000
/** How many unknown keys may have it asked in a row; then one for each cool-down. */
const IN_A_ROW = 3

/**
 * Keeps a provider's keys for their lifetime. A key that is not among them makes them be fetched anew, for that is how a
 * rotation shows, but after a few times only once in a cool-down, for anybody can make up a key's name. All who wait, wait
 * for one fetch, and none longer than the timeout.
 */
export function createPublishedKeys(options: PublishedKeysOptions): PublishedKeys {
  const { clock, lifetime, coolDown } = options
  let current: { readonly select: LocalJWKSet; readonly until: number } | undefined
  let pending: Promise<LocalJWKSet> | undefined
  let controller: AbortController | undefined
  let restUntil = 0
  let coolUntil = 0
  let failed = false

  function reload(): Promise<LocalJWKSet> {
    if (pending) return pending
    if (failed && clock.now() < restUntil) return Promise.reject(unavailable())
    controller = new AbortController()
    pending = inTime(options, controller)
      .then(keep, giveUp)
      .finally(() => (pending = undefined))
    return pending
  }

  function keep(select: LocalJWKSet): LocalJWKSet {
    failed = false
    current = { select, until: clock.now() + lifetime }
    return select
  }

  function giveUp(cause: unknown): never {
    failed = true
    restUntil = clock.now() + REST
    throw unavailable(cause)
  }

  /** Keys that came after those that lack the one asked for; undefined when it is too early to fetch them again. */
  function newerThan(select: LocalJWKSet): LocalJWKSet | Promise<LocalJWKSet> | undefined {
    if (current && current.select !== select) return current.select
    if (pending) return pending
    const next = Math.max(coolUntil, clock.now()) + coolDown
    if (next - clock.now() > IN_A_ROW * coolDown) {
      if (failed) throw unavailable()
      return undefined
    }
    coolUntil = next
    return reload()
  }

  return {
    async find(header, token) {
      const keys = current && clock.now() < current.until ? current.select : await reload()
      const found = await pick(keys, header, token)
      if (found) return found
      const newer = await newerThan(keys)
      return newer ? pick(newer, header, token) : null
    },
    close: () => controller?.abort(new Error('The application is closing.')),
  }
}

/**
 * Null when no key has the name and type. jose throws when several have, as which of them is meant cannot be told: then,
 * as for a key that is no good, the token proves nobody.
 */
async function pick(
  keys: LocalJWKSet,
  header: JWSHeaderParameters,
  token: FlattenedJWSInput,
): Promise<CryptoKey | null> {
  try {
    return await keys(header, token)
  } catch (error) {
    if (error instanceof errors.JWKSNoMatchingKey) return null
    throw error
  }
}

async function inTime(
  { load, timeout }: PublishedKeysOptions,
  controller: AbortController,
): Promise<LocalJWKSet> {
  const late = (): void => controller.abort(new Error(`The key server took longer than ${timeout} ms.`))
  const timer = setTimeout(late, timeout)
  try {
    return await load(controller.signal)
  } finally {
    clearTimeout(timer)
  }
}

function unavailable(cause?: unknown): ServiceUnavailable {
  return new ServiceUnavailable('The sign-in provider cannot be asked for its keys now.', {
    retryAfter: REST / 1000,
    ...(cause === undefined ? {} : { cause }),
  })
}
