import { isStable } from './back-off.ts'
import type { PrimaryContext } from './primary-context.ts'
import type { RestartReason } from './messages.ts'
import { createPlaces, describeEnd, type Member, type Place } from './place.ts'
import { type ReloadContext, type ReloadOutcome, reloadPlaces, replace, STOPPING } from './reload.ts'
import { endWorkers, type HowToEnd } from './end-workers.ts'
import type { WorkerEnd } from './worker-process.ts'

/** Attempts to start the first worker. */
const FIRST_ATTEMPTS = 5

/** End of the primary process: its exit code, and the reason of a start that failed. */
export interface PrimaryEnd {
  readonly code: number
  readonly reason?: string
}

/** Keeps workers running until it is stopped. */
export class Primary {
  /** Resolves when no worker runs any more. */
  readonly ended: Promise<PrimaryEnd>
  /** Workers that were replaced without a reload. */
  readonly restarts: Record<RestartReason, number> = { crash: 0, stuck: 0, memory: 0 }
  private readonly context: PrimaryContext
  private readonly places: readonly Place[]
  private readonly members = new Set<Member>()
  private resolveEnded!: (end: PrimaryEnd) => void
  private isServing = false
  private isStopping = false
  private firstFailures = 0
  private shownReason: string | undefined = undefined
  private isReplacing = false
  /** Callers of `reload` whose reload has not begun. */
  private waiting: ((outcome: ReloadOutcome) => void)[] = []

  constructor(context: PrimaryContext) {
    this.context = context
    this.places = createPlaces(context.count)
    this.ended = new Promise((resolve) => {
      this.resolveEnded = resolve
    })
  }

  /** Starts the first worker; the others follow when it is ready, so that a wrong set-up is reported once. */
  start(): void {
    this.fill(this.places[0]!)
  }

  /**
   * Replaces every worker by a new one, one after the other. A request during a reload causes another reload.
   * @returns the outcome of the reload that began after this call.
   */
  async reload(): Promise<ReloadOutcome> {
    if (this.isStopping) return STOPPING
    if (!this.isServing) {
      this.context.log.warn('The reload is ignored, because no worker is ready yet.')
      return { outcome: 'refused', message: 'No worker is ready yet.' }
    }
    const outcome = new Promise<ReloadOutcome>((resolve) => {
      this.waiting.push(resolve)
    })
    void this.reloadAll()
    return outcome
  }

  /** The places of all workers; none while this process stops. */
  watched(): readonly Place[] {
    return this.isStopping ? [] : this.places
  }

  /** Replaces one worker. @returns false if others are being replaced at this moment. */
  recycle(place: Place): boolean {
    if (this.isReplacing || this.isStopping) return false
    void this.recycleOne(place)
    return true
  }

  /** Ends every worker. @param how `stop` with the delay of production, `close` without it. */
  stop(how: HowToEnd): void {
    if (this.isStopping) return
    this.isStopping = true
    this.context.manager.stopping()
    for (const { cancelRestart } of this.places) cancelRestart?.()
    void endWorkers([...this.members], how, this.context).then((code) => this.resolveEnded({ code }))
  }

  /** Ends every worker immediately. */
  kill(): void {
    for (const { worker } of this.members) worker.kill()
  }

  private async reloadAll(): Promise<void> {
    if (this.isReplacing) return
    this.isReplacing = true
    while (this.waiting.length > 0 && !this.isStopping) {
      const callers = this.waiting.splice(0)
      this.context.manager.reloading()
      const outcome = await reloadPlaces(this.places, this.reloadContext())
      if (!this.isStopping) this.context.manager.ready()
      for (const resolve of callers) resolve(outcome)
    }
    this.isReplacing = false
    for (const resolve of this.waiting.splice(0)) resolve(STOPPING)
  }

  private async recycleOne(place: Place): Promise<void> {
    this.isReplacing = true
    this.restarts.memory += 1
    const problem = await replace(place, this.reloadContext())
    this.isReplacing = false
    const fields = {
      event: 'worker.kept',
      worker: place.number,
      ...(problem?.reason && { reason: problem.reason }),
    }
    if (problem !== undefined) this.context.log.error(fields, `${problem.text} The old one continues.`)
    await this.reloadAll()
  }

  private reloadContext(): ReloadContext {
    return {
      ...this.context,
      launch: (place) => this.launch(place),
      isStopping: () => this.isStopping,
      refill: (place) => this.restartLater(place, place.backOff.next(undefined)),
    }
  }

  private fill(place: Place): void {
    place.cancelRestart = undefined
    const member = this.launch(place)
    place.current = member
    void member.worker.ready.then(() => this.serve(member))
  }

  /** Starts a worker and follows it to its end. */
  private launch(place: Place): Member {
    const { fork, clock, log } = this.context
    const worker = fork(place.number)
    const member: Member = { worker, readyAt: undefined }
    this.members.add(member)
    void worker.ready.then(() => {
      member.readyAt = clock.now()
      const fields = { event: 'worker.ready', worker: worker.number, workerPid: worker.pid }
      log.info(fields, `Worker ${worker.number} is ready.`)
    })
    void worker.ended.then((end) => this.release(place, member, end))
    return member
  }

  private serve(first: Member): void {
    if (this.isServing || this.isStopping) return
    this.isServing = true
    this.context.manager.ready()
    for (const place of this.places) if (place.current !== first) this.fill(place)
  }

  private release(place: Place, member: Member, end: WorkerEnd): void {
    this.members.delete(member)
    if (place.current !== member) return
    place.current = undefined
    if (this.isStopping) return
    if (!this.isServing) this.retryFirst(place, member, end)
    else if (!place.isReplacing) this.restart(place, member, end)
  }

  /** Gives up after a fault of the configuration, or after five attempts. */
  private retryFirst(place: Place, member: Member, end: WorkerEnd): void {
    const { log, explain } = this.context
    const { failure } = end
    if (failure?.foreseen) return this.resolveEnded({ code: 1, reason: failure.message })
    this.firstFailures += 1
    // Every attempt has the same reason as a rule, so it is shown once.
    if (failure !== undefined && failure.message !== this.shownReason) explain(failure.message)
    this.shownReason = failure?.message
    const text = describeEnd(member, end)
    if (this.firstFailures === FIRST_ATTEMPTS)
      return this.resolveEnded({
        code: 1,
        reason: `${text} No worker became ready in ${FIRST_ATTEMPTS} attempts.`,
      })
    const delay = place.backOff.next(undefined)
    const next = `Attempt ${this.firstFailures + 1} of ${FIRST_ATTEMPTS} begins in ${delay} s.`
    log.error(fieldsOf(member, { ...end, failure: undefined }), `${text} ${next}`)
    this.restartLater(place, delay)
  }

  private restart(place: Place, member: Member, end: WorkerEnd): void {
    const { clock, log } = this.context
    this.restarts[member.endedFor ?? 'crash'] += 1
    const served = member.readyAt === undefined ? undefined : clock.now() - member.readyAt
    const delay = place.backOff.next(served)
    const serving = this.places.filter(({ current }) => current?.readyAt !== undefined).length
    // If few workers are left, the next crash could leave none, and connections would be refused.
    const wait = serving * 2 < this.places.length && isStable(served) ? 0 : delay
    const next = wait === 0 ? 'It starts again now.' : `It starts again in ${wait} s.`
    log.error(fieldsOf(member, end), `${describeEnd(member, end)} ${next}`)
    this.restartLater(place, wait)
  }

  private restartLater(place: Place, delay: number): void {
    place.cancelRestart = this.context.clock.after(delay, () => this.fill(place))
  }
}

function fieldsOf({ worker }: Member, { failure }: WorkerEnd): object {
  const reason = failure === undefined ? {} : { reason: failure.message }
  return { event: 'worker.ended', worker: worker.number, workerPid: worker.pid, ...reason }
}
