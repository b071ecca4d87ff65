import type { Logger } from '../../contracts/logger.ts'

/** Creates the list of the calls of `loadRoutes` that have not finished, of one application. */
export function createPendingLoads() {
  const loading = new Set<Promise<unknown>>()
  return {
    /** Counts the work as unfinished until it settles, and returns its result. */
    async track<T>(work: Promise<T>) {
      loading.add(work)
      try {
        return await work
      } finally {
        loading.delete(work)
      }
    },
    /** Waits for all loads: an application that served earlier would send 404 for these routes. */
    async settle(reporter: Logger) {
      if (loading.size === 0) return
      reporter.debug('Waiting for loadRoutes, which was not awaited')
      while (loading.size > 0) await Promise.all(loading)
    },
  }
}
