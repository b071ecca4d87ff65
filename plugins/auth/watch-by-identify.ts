import type { Authenticator, User } from 'mortar'

/** Milliseconds between two calls of `identify`. */
const EVERY = 30_000

/**
 * Watches the credential of a long response for a provider that reports no ends, by asking it again. A provider that
 * fails to answer ends nothing.
 */
export function watchByIdentify(
  identify: (...input: Parameters<Authenticator['identify']>) => User | null | Promise<User | null>,
): NonNullable<Authenticator['watch']> {
  return (credential, request, onEnd) => {
    const timer = setInterval(() => void ask(), EVERY)
    timer.unref()
    const ask = async (): Promise<void> => {
      const user = await Promise.resolve()
        .then(() => identify(credential, request))
        .catch(() => undefined)
      if (user !== null) return
      clearInterval(timer)
      onEnd()
    }
    return () => clearInterval(timer)
  }
}
