import { inTime } from 'mortar/kit'

/** Milliseconds for which a look waits for such work, and after which it counts as blocked. */
const PATIENCE = 1000
const BLOCKED = 30_000

/**
 * Bounds the time for which a look waits for statements that wait for locks: a host that was lost in a transaction keeps
 * its rows locked until the database gives it up, which can take hours.
 * @param onLateError gets the error of work that fails after that time.
 */
export function boundedWork(work: () => Promise<void>, onLateError: (error: unknown) => void) {
  let since: number | undefined
  return {
    /** Does nothing while an earlier run goes on. */
    async run() {
      if (since !== undefined) return
      since = performance.now()
      let isLate = false
      const running = work()
        .catch((error: unknown) => {
          if (!isLate) throw error
          onLateError(error)
        })
        .finally(() => (since = undefined))
      const late = new Error('The work goes on.')
      await inTime(running, PATIENCE, () => late).catch((error: unknown) => {
        if (error !== late) throw error
        isLate = true
      })
    },
    get isLate() {
      return since !== undefined && performance.now() - since > BLOCKED
    },
  }
}
