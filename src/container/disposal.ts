import type { CacheEntry } from 'awilix/browser'
import type { Logger } from '../contracts/logger.ts'
import { describeError } from '../errors/describe-error.ts'
import { stopped } from '../support/with-deadline.ts'

/** An instance and its disposer. */
export interface Disposable {
  readonly name: string
  readonly instance: unknown
  readonly dispose: (instance: unknown) => unknown
}

/**
 * Disposes of instances in the given order, for at most the seconds that are `left`. A failure is logged and does not stop
 * the others. Never rejects.
 */
export type DisposeAll = (disposables: readonly Disposable[], left?: () => number) => Promise<void>

/** @param timeout time limit of each disposer in seconds. */
export function createDisposal(logger: Logger, timeout: number): DisposeAll {
  return async (disposables, left = () => timeout) => {
    for (const { name, instance, dispose } of disposables)
      try {
        const work = dispose(instance)
        // A synchronous disposer is already done and needs no timer.
        if (work !== undefined) await stopped(work, timeout, left)
      } catch (error) {
        const message = `The service '${name}' could not be disposed of`
        logger.error({ service: name, err: describeError(error) }, message)
      }
  }
}

/**
 * Removes every instance with a disposer from a cache of awilix, so that none is disposed of twice. The newest instance
 * comes first, because a service is complete after its dependencies.
 */
export function takeDisposables(cache: Map<string | symbol, CacheEntry>): readonly Disposable[] {
  return [...cache].toReversed().flatMap(([name, { resolver, value }]) => {
    const { dispose } = resolver as { dispose?: Disposable['dispose'] }
    if (dispose === undefined) return []
    cache.delete(name)
    return [{ name: String(name), instance: value as unknown, dispose }]
  })
}
