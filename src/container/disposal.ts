import type { CacheEntry } from '#awilix'
import type { Logger } from '../contracts/logger.ts'
import { describeError } from '../errors/describe-error.ts'
import { withDeadline } from '../support/with-deadline.ts'

/** An instance with what ends it. */
export interface Disposable {
  readonly name: string
  readonly instance: unknown
  readonly dispose: (instance: unknown) => unknown
}

/** Disposes of instances in the given order; one that fails is logged and does not keep the others. Never rejects. */
export type DisposeAll = (disposables: readonly Disposable[]) => Promise<void>

/** @param timeout seconds that each disposer has. */
export function createDisposal(logger: Logger, timeout: number): DisposeAll {
  return async (disposables) => {
    for (const { name, instance, dispose } of disposables)
      try {
        const work = dispose(instance)
        // A disposer that returns nothing is done, and needs no timer.
        if (work !== undefined) await withDeadline(Promise.resolve(work), timeout)
      } catch (error) {
        logger.error(
          { service: name, err: describeError(error) },
          `The service '${name}' was not disposed of`,
        )
      }
  }
}

/**
 * Takes every instance that has a disposer out of a cache of awilix, so that none is disposed of twice. The last to be made
 * comes first: a service is complete after everything that it asked for.
 */
export function takeDisposables(cache: Map<string | symbol, CacheEntry>): readonly Disposable[] {
  return [...cache].toReversed().flatMap(([name, { resolver, value }]) => {
    const { dispose } = resolver as { dispose?: Disposable['dispose'] }
    if (dispose === undefined) return []
    cache.delete(name)
    return [{ name: String(name), instance: value as unknown, dispose }]
  })
}
