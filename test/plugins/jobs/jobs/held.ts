import { object, string } from 'mortar/yup'
import { deferred } from '../../../support/deferred.ts'
import { job } from '@mortar/jobs'

/** One run of the job `held`, which the test ends. */
export class Hold {
  readonly begun = deferred<AbortSignal>()
  readonly end = deferred()
  /** Number of attempts that run now, and the highest number so far. */
  running = 0
  most = 0
}

export const holds = new Map<string, Hold>()

/** Runs until its test ends it, or until its signal aborts. */
export default job(
  { data: object({ hold: string().required() }), attempts: 2, backoff: 0, concurrency: 2, timeout: '20s' },
  async ({ data, signal }) => {
    const hold = holds.get(data.hold)!
    hold.running++
    hold.most = Math.max(hold.most, hold.running)
    hold.begun.resolve(signal)
    try {
      await new Promise<void>((resolve, reject) => {
        signal.addEventListener('abort', () => reject(signal.reason))
        void hold.end.promise.then(resolve)
      })
    } finally {
      hold.running--
    }
  },
)
