import { setTimeout as wait } from 'node:timers/promises'
import type { Outages } from 'mortar'

/** Milliseconds for which a look waits for the schedules, and after which they count as blocked. */
const PATIENCE = 1000
const BLOCKED = 30_000

export interface ScheduleLooks {
  add(): Promise<void>
  readonly isLate: boolean
}

/**
 * Adds the jobs of schedules, without holding the claims: a host that was lost in a transaction keeps the row of a schedule
 * locked until the database gives it up, which can take hours.
 */
export function scheduleLooks(addScheduled: () => Promise<void>, outages: Outages): ScheduleLooks {
  let since: number | undefined
  return {
    async add() {
      if (since !== undefined) return
      since = performance.now()
      let isLate = false
      const adding = addScheduled()
        .catch((error: unknown) => {
          if (!isLate) throw error
          outages.log({ part: 'schedules of jobs', message: 'The jobs of schedules were not added', error })
        })
        .finally(() => (since = undefined))
      const late = new AbortController()
      const limit = wait(PATIENCE, undefined, { signal: late.signal }).then(() => (isLate = true))
      await Promise.race([adding, limit.catch(() => undefined)]).finally(() => late.abort())
    },
    get isLate() {
      return since !== undefined && performance.now() - since > BLOCKED
    },
  }
}
