import type { Outages } from 'mortar'
import { describeError } from 'mortar/kit'

/** Milliseconds between two looks, and the longest pause after failures. */
const POLL = 1000
const LONGEST_PAUSE = 30_000

/** Work that is repeated, one run at a time. */
export type Looks = ReturnType<typeof lookRegularly>

/** Looks for work each second, and less often while it fails. */
export function lookRegularly(look: () => Promise<void>, outages: Outages) {
  let timer: NodeJS.Timeout | undefined
  let looking: Promise<void> | undefined
  let isWanted = false
  let isStopped = true
  let failures = 0
  let lastSuccess = 0

  async function attempt(): Promise<void> {
    try {
      await look()
      outages.end('jobs')
      failures = 0
      lastSuccess = performance.now()
    } catch (error) {
      failures++
      const fields = { brick: 'jobs', err: describeError(error) }
      outages.begin({ part: 'jobs', error, message: 'The jobs cannot be read', fields })
    }
  }

  /** A process has its own rhythm, so that many do not look at the same moment. */
  const pause = (): number =>
    failures === 0 ? POLL * (0.9 + 0.2 * Math.random()) : Math.min(POLL * 2 ** failures, LONGEST_PAUSE)

  /** Looks now, or again after the current look. */
  function wake(): void {
    if (isStopped) return
    isWanted = true
    if (looking !== undefined) return
    clearTimeout(timer)
    isWanted = false
    looking = attempt().finally(() => {
      looking = undefined
      if (isWanted && failures === 0) wake()
      else if (!isStopped) timer = setTimeout(wake, pause()).unref()
    })
  }

  return {
    wake,
    start() {
      isStopped = false
      lastSuccess = performance.now()
      wake()
    },
    /** Ends with the current look. */
    async stop() {
      isStopped = true
      clearTimeout(timer)
      await looking
    },
    /** False if no look has succeeded for half a minute. */
    get isWell() {
      return isStopped || performance.now() - lastSuccess < LONGEST_PAUSE
    },
  }
}
