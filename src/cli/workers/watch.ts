import type { Logger } from '../../contracts/logger.ts'
import type { PrimaryClock } from './clock.ts'
import type { Member, Place } from './place.ts'
import type { Primary } from './primary.ts'

/** Seconds between two questions to a worker. */
export const TICK = 1

/** Least seconds between two replacements of one worker because of its memory. */
const LEAST_LIFE = 60

/** Limits of workers. */
export interface WatchLimits {
  /** Seconds without a response after which a worker is killed; undefined for no limit. */
  readonly stuckAfter: number | undefined
  /** Bytes of resident memory above which a worker is replaced; undefined for no limit. */
  readonly maxMemory: number | undefined
}

interface WatchContext extends WatchLimits {
  readonly log: Logger
  readonly clock: PrimaryClock
}

/** Knowledge of one worker. */
interface Observed {
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
 * Asks each ready worker for a sign of life. One whose event loop is blocked is killed, and one that needs too much
 * memory is replaced. Silence is counted in ticks, not by a clock, because a suspended machine stops every process.
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
      up: seen.map((observed) => observed?.missed === 0),
      restarts: this.primary.restarts,
    }
    for (const [index, member] of members.entries()) {
      if (member === undefined) continue
      const observed = seen[index]!
      if (this.isStuck(observed)) this.kill(member)
      else if (this.isTooLarge(observed)) this.recycle(places[index]!, member, observed)
      if (observed.isAsked) continue
      observed.isAsked = true
      member.worker.ping(workers, ({ memory, isInspected }) => {
        Object.assign(observed, { isAsked: false, missed: 0, memory, isInspected })
      })
    }
  }

  private observe(member: Member): Observed {
    const { clock } = this.context
    const observed = this.known.get(member) ?? {
      isAsked: false,
      missed: 0,
      isInspected: false,
      memory: 0,
      spareUntil: clock.now() + LEAST_LIFE,
    }
    this.known.set(member, observed)
    if (observed.isAsked) observed.missed += 1
    return observed
  }

  private isStuck({ missed, isInspected }: Observed): boolean {
    const { stuckAfter = Infinity } = this.context
    return missed * TICK >= stuckAfter && !isInspected
  }

  private isTooLarge({ memory, spareUntil }: Observed): boolean {
    const { maxMemory = Infinity, clock } = this.context
    return memory > maxMemory && clock.now() >= spareUntil
  }

  private kill(member: Member): void {
    const { number, pid } = member.worker
    this.context.log.error(
      { event: 'worker.stuck', worker: number, workerPid: pid },
      `Worker ${number} has not responded for ${this.context.stuckAfter} s, so it is killed.`,
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

/** A worker that ends closes its channel first; its end has a limit of its own. */
function isWatched(member: Member | undefined): member is Member {
  return member?.readyAt !== undefined && member.endedFor === undefined && member.worker.isConnected
}

function megabytes(size: number): string {
  return `${Math.round(size / 1024 ** 2)} MB`
}
