import type { NamedCheck } from '../../../bricks/health-check.ts'
import type { Cradle } from '../../../contracts/services.ts'
import { describeError } from '../../../errors/describe-error.ts'
import { inTime } from '../../../support/in-time.ts'

/** Result of a check: undefined if it passed, else the reason. */
export type CheckResult = { readonly error: unknown } | undefined

/** Milliseconds after which a run that ignores its signal no longer prevents the next one. */
const ABANDONED_AFTER = 30_000

interface Run {
  readonly began: number
  readonly controller: AbortController
  /** Settles with the result, at the latest when the time is over. Never rejects. */
  readonly result: Promise<CheckResult>
  /** Time of the result; undefined while callers wait for it. */
  ended: number | undefined
  /** True until the function itself has settled, which may be after its time. */
  isBusy: boolean
}

/** Runs a check when its result is needed and not fresh. At most one run is active, and all callers share it. */
export class CheckRunner {
  readonly name: string
  private readonly check: NamedCheck
  private readonly services: Cradle
  private last: Run | undefined = undefined
  /** Result of the last run; undefined before the first. */
  passed: boolean | undefined = undefined

  constructor(check: NamedCheck, services: Cradle) {
    this.name = check.name
    this.check = check
    this.services = services
  }

  /** Returns the result of the last run while it is fresh or still active, else of a new run. Never rejects. */
  result(): Promise<CheckResult> {
    const { last } = this
    if (last !== undefined && this.isUsable(last)) return last.result
    return (this.last = this.start()).result
  }

  /** Aborts the signal of the active run. */
  stop(): void {
    this.last?.controller.abort()
  }

  private isUsable({ began, ended, isBusy }: Run): boolean {
    const now = performance.now()
    if (ended === undefined) return true
    return isBusy ? now - began < ABANDONED_AFTER : now - ended < this.check.cache
  }

  private start(): Run {
    const controller = new AbortController()
    const work = this.run(controller.signal)
    const { timeout } = this.check
    const late = () => new Error(`It took longer than ${timeout / 1000} s.`)
    const settling = inTime(work, timeout, late).catch((error: unknown) => ({ error }))
    const result = settling.then((settled) => {
      run.ended = performance.now()
      if (settled !== undefined) controller.abort(settled.error)
      this.report(settled)
      return settled
    })
    const run: Run = { began: performance.now(), controller, result, ended: undefined, isBusy: true }
    void work.then(() => {
      run.isBusy = false
    })
    return run
  }

  private async run(signal: AbortSignal): Promise<CheckResult> {
    try {
      const value: unknown = await this.check.run(this.services, signal)
      return value === false ? { error: new Error('The check returned false.') } : undefined
    } catch (error) {
      return { error }
    }
  }

  /** Logs only a change, because probes arrive every few seconds. */
  private report(result: CheckResult): void {
    const { name } = this
    const { outages } = this.services
    this.passed = result === undefined
    const part = `check ${name}`
    if (result === undefined) return outages.end(part)
    const fields = { check: name, err: describeError(result.error) }
    outages.begin({ part, error: result.error, message: `The check '${name}' failed`, fields })
  }
}
