import { counted } from '../../support/counted.ts'
import { endWorker } from './end-workers.ts'
import type { Member, Place } from './place.ts'
import type { PrimaryContext } from './primary-context.ts'
import type { WorkerEnd } from './worker-process.ts'

/** Parts of the primary process that a reload works with. */
export interface ReloadContext extends Pick<PrimaryContext, 'log' | 'clock' | 'reloadTimeout'> {
  readonly launch: (place: Place) => Member
  readonly isStopping: () => boolean
  /** Starts a worker later, in a place that has none. */
  readonly refill: (place: Place) => void
}

/** End of a reload, as the primary process tells it to an operator. */
export type ReloadOutcome =
  | { readonly outcome: 'completed'; readonly workers: number }
  | {
      readonly outcome: 'failed'
      readonly workers: number
      /** Number of workers that are new. */
      readonly replaced: number
      readonly message: string
      /** The error of the start, without recognisable secrets. */
      readonly reason?: string
    }
  | { readonly outcome: 'refused'; readonly message: string }

/** The outcome while the primary process stops. */
export const STOPPING: ReloadOutcome = { outcome: 'refused', message: 'The primary process is stopping.' }

/** Replaces the workers one after the other. If a new worker does not become ready, the old ones continue. */
export async function reloadPlaces(places: readonly Place[], context: ReloadContext): Promise<ReloadOutcome> {
  const { log } = context
  const total = places.length
  log.info(
    { event: 'reload.started' },
    `Reload: ${counted(total, 'worker')} will be replaced, one after the other.`,
  )
  let replaced = 0
  for (const place of places) {
    const problem = await replace(place, context)
    if (context.isStopping()) return STOPPING
    if (problem !== undefined) {
      const rest = `${replaced} of ${total} workers are new, and the others continue with the old build.`
      const reason = problem.reason === undefined ? {} : { reason: problem.reason }
      const message = `${problem.text} ${rest}`
      log.error({ event: 'reload.failed', worker: place.number, ...reason }, `Reload stopped: ${message}`)
      return { outcome: 'failed', workers: total, replaced, message, ...reason }
    }
    replaced += 1
  }
  log.info({ event: 'reload.completed' }, `Reload completed: ${counted(total, 'worker')} replaced.`)
  return { outcome: 'completed', workers: total }
}

/** Why a worker could not be replaced. */
export interface Problem {
  readonly text: string
  readonly reason?: string | undefined
}

/** Starts a new worker, and closes the old one when the new one is ready. */
export async function replace(place: Place, context: ReloadContext): Promise<Problem | undefined> {
  place.cancelRestart?.()
  place.cancelRestart = undefined
  place.isReplacing = true
  const fresh = context.launch(place)
  const problem = await untilReady(fresh, context)
  place.isReplacing = false
  if (context.isStopping()) return undefined
  if (problem !== undefined) {
    if (place.current === undefined) context.refill(place)
    return problem
  }
  const old = place.current
  place.current = fresh
  place.backOff.reset()
  if (old !== undefined) await endWorker(old, 'replace', context)
  return undefined
}

/** Waits for a new worker. One that is late is killed, so that it never serves. */
async function untilReady({ worker }: Member, context: ReloadContext): Promise<Problem | undefined> {
  const { clock, reloadTimeout } = context
  let cancel = (): void => {}
  const late = new Promise<'late'>((resolve) => {
    cancel = clock.after(reloadTimeout, () => resolve('late'))
  })
  const outcome = await Promise.race([worker.ready, worker.ended, late])
  cancel()
  if (outcome === undefined) return undefined
  if (outcome !== 'late') return endedEarly(worker.number, outcome)
  worker.kill()
  await worker.ended
  return { text: `The new worker ${worker.number} was not ready within ${reloadTimeout} s.` }
}

function endedEarly(number: number, { code, signal, failure }: WorkerEnd): Problem {
  const how = signal === null ? `exit code ${code}` : `signal ${signal}`
  return { text: `The new worker ${number} ended before it was ready (${how}).`, reason: failure?.message }
}
