import type { CryptoKey, FlattenedJWSInput, JWSHeaderParameters, LocalJWKSet } from 'jose'
import { ServiceUnavailable, type Clock } from 'mortar'
import { inTime, isPausing } from 'mortar/kit'
import { loadJose } from './jose.ts'

/** Settings of `createPublishedKeys`; times in milliseconds. */
export interface PublishedKeysOptions {
  /** Fetches all keys, until the signal aborts. */
  readonly load: (signal: AbortSignal) => Promise<LocalJWKSet>
  readonly clock: Clock
  readonly timeout: number
  readonly lifetime: number
  readonly coolDown: number
}

/** Cache of a provider's rotating keys. */
export type PublishedKeys = ReturnType<typeof createPublishedKeys>

interface Fetched {
  readonly select: LocalJWKSet
  readonly until: number
  /** Position of their fetch among all that have begun. */
  readonly number: number
}

/** Pause after a failed fetch. */
const REST = 1000
/** Fetches for unknown keys without a pause; then one per cool-down. */
const IN_A_ROW = 3

/**
 * Caches a provider's keys for their lifetime. An unknown key id causes a new fetch, because keys rotate. After a few
 * fetches only one per cool-down is made, because anybody can invent a key id. Concurrent callers share one fetch, which
 * none waits for longer than the timeout.
 */
export function createPublishedKeys(options: PublishedKeysOptions) {
  const { clock, lifetime } = options
  const mayFetch = createCoolDown(options)
  let current: Fetched | undefined
  let pending: Promise<Fetched> | undefined
  let begun = 0
  let controller: AbortController | undefined
  /** 0 if the last fetch has not failed. */
  let restUntil = 0

  function reload(): Promise<Fetched> {
    if (pending) return pending
    if (isPausing(restUntil, clock.now(), REST)) return Promise.reject(unavailable())
    controller = new AbortController()
    const number = ++begun
    pending = loadInTime(options, controller)
      .then((select) => {
        restUntil = 0
        return (current = { select, until: clock.now() + lifetime, number })
      }, giveUp)
      .finally(() => (pending = undefined))
    return pending
  }

  function giveUp(cause: unknown): never {
    restUntil = clock.now() + REST
    throw unavailable(cause)
  }

  /** Fetches newer keys for an unknown id; undefined during the cool-down. */
  function newerThan(keys: Fetched): Fetched | Promise<Fetched> | undefined {
    if (current !== keys) return current
    if (pending) return pending
    if (mayFetch()) return reload()
    if (restUntil > 0) throw unavailable()
    return undefined
  }

  return {
    /**
     * @returns the key for a token's header, or null if the provider does not publish a matching key.
     * @throws ServiceUnavailable 503 when the keys cannot be fetched.
     */
    async find(header: JWSHeaderParameters, token: FlattenedJWSInput) {
      const before = begun
      let keys: Fetched | undefined = current && clock.now() < current.until ? current : await reload()
      while (keys !== undefined) {
        const found = await pick(keys.select, header, token)
        // An older fetch may have missed the token's key, even if it ended later.
        if (found || keys.number > before) return found
        keys = await newerThan(keys)
      }
      return null
    },
    /** Aborts a running fetch. */
    close: () => controller?.abort(new Error('The application is closing.')),
  }
}

/** Returns the function that tells if another fetch for an unknown id may be made now. */
function createCoolDown({ clock, coolDown }: PublishedKeysOptions): () => boolean {
  let until = 0
  return () => {
    const now = clock.now()
    const next = (isPausing(until, now, IN_A_ROW * coolDown) ? until : now) + coolDown
    if (next - now > IN_A_ROW * coolDown) return false
    until = next
    return true
  }
}

/**
 * Returns null if no key has the id and type. jose throws when several keys match or a key is unusable: then the token
 * is refused.
 */
async function pick(
  keys: LocalJWKSet,
  header: JWSHeaderParameters,
  token: FlattenedJWSInput,
): Promise<CryptoKey | null> {
  try {
    return await keys(header, token)
  } catch (error) {
    const { errors } = await loadJose()
    if (error instanceof errors.JWKSNoMatchingKey) return null
    throw error
  }
}

function loadInTime(
  { load, timeout }: PublishedKeysOptions,
  controller: AbortController,
): Promise<LocalJWKSet> {
  return inTime(load(controller.signal), timeout, () => {
    controller.abort()
    return new Error(`The key server took longer than ${timeout} ms.`)
  })
}

function unavailable(cause?: unknown): ServiceUnavailable {
  return new ServiceUnavailable('The keys of the sign-in provider are not available. Try again shortly.', {
    retryAfter: REST / 1000,
    ...(cause === undefined ? {} : { cause }),
  })
}
