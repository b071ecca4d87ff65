import type { Logger } from '../../contracts/logger.ts'

/** The calls of `loadRoutes` that have not finished. */
export interface PendingLoads {
  /** Counts the work as unfinished until it settles, and returns its result. */
  track<T>(work: Promise<T>): Promise<T>
  /** Waits for all loads: an application that served earlier would send 404 for these routes. */
  settle(reporter: Logger): Promise<void>
}

/** Creates the list of one application. */
export function createPendingLoads(): PendingLoads {
  const loading = new Set<Promise<unknown>>()
  return {
    async track(work) {
      loading.add(work)
      try {
        return await work
      } finally {
        loading.delete(work)
      }
    },
    async settle(reporter) {
      if (loading.size === 0) return
      reporter.debug('Waiting for loadRoutes, which was not awaited')
      while (loading.size > 0) await Promise.all(loading)
    },
  }
}
