import type { Member, Place } from './place.ts'
import type { Primary } from './primary.ts'
import type { PrimaryContext } from './primary-context.ts'

/** Seconds between two questions to a worker. */
export const TICK = 1

/** Least seconds between two replacements of one worker because of its memory. */
const LEAST_LIFE = 60

/** Least seconds without a response after which a worker is killed that is not ready: it may import for some time. */
const LEAST_START = 30

/** Limits of workers. */
export interface WatchLimits {
  /** Seconds after which a worker is killed that responds, and is not ready; undefined for no limit. */
  readonly startTimeout: number | undefined
  /** Seconds without a response after which a worker is killed; undefined for no limit. */
  readonly stuckAfter: number | undefined
  /** Bytes of resident memory above which a worker is replaced; undefined for no limit. */
  readonly maxMemory: number | undefined
}

type WatchContext = WatchLimits & Pick<PrimaryContext, 'log' | 'clock'>

/** Knowledge of one worker. */
interface Observed {
  readonly isReady: boolean
  /** Ticks since its start, or since it became ready. */
  ticks: number
  /** True from a question to its response. */
  isAsked: boolean
  /** Ticks for which it has not responded. */
  missed: number
  isInspected: boolean
  /** Bytes of resident memory in its last response. */
  memory: number
  /** Time in seconds before which its memory does not count. */
  spareUntil: number
}

/**
 * Asks each worker for a sign of life. One whose event loop is blocked, or that does not become ready, is killed, and one
 * that needs too much memory is replaced. Silence is counted in ticks, not by a clock, because a suspended machine stops every process.
 */
export class Watch {
  private readonly primary: Pick<Primary, 'watched' | 'restarts' | 'recycle'>
  private readonly context: WatchContext
  private readonly known = new WeakMap<Member, Observed>()

  constructor(primary: Pick<Primary, 'watched' | 'restarts' | 'recycle'>, context: WatchContext) {
    this.primary = primary
    this.context = context
  }

  /** Judges the responses to the last question, and asks again. */
  tick(): void {
    const places = this.primary.watched()
    const members = places.map(({ current }) => (isWatched(current) ? current : undefined))
    const seen = members.map((member) => member && this.observe(member))
    const workers = {
      up: seen.map((observed, index) => observed?.missed === 0 && members[index]?.readyAt !== undefined),
      restarts: this.primary.restarts,
    }
    for (const [index, member] of members.entries()) {
      if (member === undefined) continue
      const observed = seen[index]!
      const fault = this.faultOf(member, observed)
      if (fault !== undefined) this.kill(member, fault)
      else if (this.isTooLarge(observed)) this.recycle(places[index]!, member, observed)
      // A question to a process that does not listen yet is lost, so a starting worker is asked each time.
      if (observed.isAsked && member.readyAt !== undefined) continue
      observed.isAsked = true
      member.worker.ping(workers, ({ memory, isInspected }) => {
        Object.assign(observed, { isAsked: false, missed: 0, memory, isInspected })
      })
    }
  }

  private observe(member: Member): Observed {
    const { clock } = this.context
    const isReady = member.readyAt !== undefined
    const before = this.known.get(member)
    // The questions of the start are forgotten.
    const known = before?.isReady === isReady ? before : undefined
    const observed = known ?? {
      isReady,
      ticks: 0,
      isAsked: false,
      missed: 0,
      isInspected: false,
      memory: 0,
      spareUntil: clock.now() + LEAST_LIFE,
    }
    this.known.set(member, observed)
    observed.ticks += 1
    if (observed.isAsked) observed.missed += 1
    return observed
  }

  /** Returns why a worker is killed; undefined if it works. */
  private faultOf({ readyAt }: Member, { ticks, missed, isInspected }: Observed): string | undefined {
    const { stuckAfter = Infinity, startTimeout = Infinity } = this.context
    if (isInspected) return undefined
    const patience = readyAt === undefined ? Math.max(stuckAfter, LEAST_START) : stuckAfter
    if (missed * TICK >= patience) return `has not responded for ${patience} s`
    const isLate = readyAt === undefined && ticks * TICK >= startTimeout
    return isLate ? `was not ready within ${startTimeout} s` : undefined
  }

  private isTooLarge({ memory, spareUntil }: Observed): boolean {
    const { maxMemory = Infinity, clock } = this.context
    return memory > maxMemory && clock.now() >= spareUntil
  }

  private kill(member: Member, fault: string): void {
    const { number, pid } = member.worker
    this.context.log.error(
      { event: 'worker.stuck', worker: number, workerPid: pid },
      `Worker ${number} ${fault}, so it is killed.`,
    )
    member.endedFor = 'stuck'
    member.worker.kill()
  }

  private recycle(place: Place, { worker }: Member, observed: Observed): void {
    if (!this.primary.recycle(place)) return
    const { log, clock, maxMemory } = this.context
    const { memory } = observed
    observed.spareUntil = clock.now() + LEAST_LIFE
    log.warn(
      { event: 'worker.memory', worker: worker.number, workerPid: worker.pid, memory },
      `Worker ${worker.number} needs ${megabytes(memory)}, more than ${megabytes(maxMemory!)}, so it is replaced.`,
    )
  }
}

/**
 * A worker that ends closes its channel first; its end has a limit of its own, and so has the start of one that replaces
 * another.
 */
function isWatched(member: Member | undefined): member is Member {
  return member !== undefined && member.endedFor === undefined && member.worker.isConnected
}

function megabytes(size: number): string {
  return `${Math.round(size / 1024 ** 2)} MB`
}
