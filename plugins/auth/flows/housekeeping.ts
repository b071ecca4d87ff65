import { isPausing } from 'mortar/kit'
import { tell } from './admit.ts'
import type { AuthParts } from './parts.ts'
import type { FeaturePoints } from './proof.ts'
import { clearAfterNewPassword } from './sessions.ts'

/** Milliseconds between two clean-ups of a process. */
const PAUSE = 3_600_000

/** Repeats unfinished clean-ups, and deletes expired sessions and reset tokens occasionally, after the response of a request that made a new one. */
export interface Housekeeping {
  (): void
  /** Resolves when a running clean-up is done. */
  settled(): Promise<void>
}

/** Creates the clean-up of one process: at most once an hour, without a timer, and never during a request. */
export function createHousekeeping(parts: AuthParts): Housekeeping {
  let next = 0
  let running: Promise<void> = Promise.resolve()

  async function clear(now: number): Promise<void> {
    // A copy, because a clean-up that fails again adds its user again.
    const unfinished = [...parts.unfinished]
    for (const userId of unfinished) await clearAfterNewPassword(parts, userId)
    try {
      // A clock that is ahead must not delete records that other processes still need.
      await parts.store.deleteExpired(now, now + Math.min(0, parts.endedSessions.storeAhead))
    } catch (error) {
      const message = 'Expired sessions and reset tokens could not be deleted'
      parts.outages.log({ part: 'clean-up of sessions', error, message })
    }
    await tidyFeatures(parts, now)
  }

  const tidy = (): void => {
    const now = parts.clock.now()
    if (isPausing(next, now, PAUSE)) return
    next = now + PAUSE
    running = new Promise((resolve) => {
      setImmediate(() => resolve(clear(now)))
    })
  }
  return Object.assign(tidy, { settled: () => running })
}

/** Deletes the rows of features that are over at `now`. What fails is logged. */
export async function tidyFeatures({ tables, features, outages }: AuthParts, now: number): Promise<void> {
  const over = { expires_at: { atMost: now } }
  const rows = tables
    .filter(({ shape }) => !shape.marksDeletion)
    .map(({ records }): FeaturePoints => ({ tidy: () => records.remove(over) }))
  await tell({ features: [...rows, ...features], outages }, 'tidy', (feature) => feature.tidy?.(now))
}
