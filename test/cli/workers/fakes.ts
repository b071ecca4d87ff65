import { setImmediate } from 'node:timers/promises'
import type { Logger } from '../../../src/contracts/logger.ts'
import type { PrimaryClock } from '../../../src/cli/workers/clock.ts'
import { Primary } from '../../../src/cli/workers/primary.ts'
import type { WorkersState } from '../../../src/cli/workers/messages.ts'
import { Watch, type WatchLimits } from '../../../src/cli/workers/watch.ts'
import type { WorkerEnd, WorkerProcess } from '../../../src/cli/workers/worker-process.ts'

/** A worker without a process: the test decides when it is ready and how it ends. */
export interface FakeWorker extends WorkerProcess {
  /** Names of the methods that were called to end it. */
  readonly calls: string[]
  isDead: boolean
  isConnected: boolean
  /** Responds to its pings; false for a worker that is stuck. */
  responds: boolean
  /** Resident memory in its responses, in bytes. */
  memory: number
  isInspected: boolean
  /** The state of all workers in its last ping. */
  lastState: WorkersState | undefined
  becomeReady(): Promise<void>
  end(end?: Partial<WorkerEnd>): Promise<void>
}

/** Lets every settled promise run its callbacks. */
export const settle = (): Promise<void> => setImmediate()

function createFakeWorker(number: number, pid: number): FakeWorker {
  let resolveReady = (): void => {}
  let resolveEnded = (_end: WorkerEnd): void => {}
  const worker: FakeWorker = {
    number,
    pid,
    ready: new Promise<void>((resolve) => {
      resolveReady = resolve
    }),
    ended: new Promise<WorkerEnd>((resolve) => {
      resolveEnded = resolve
    }),
    closesWithin: 25,
    calls: [],
    isDead: false,
    isConnected: true,
    responds: true,
    memory: 0,
    isInspected: false,
    lastState: undefined,
    ping(workers, answered) {
      worker.lastState = structuredClone(workers)
      const { memory, isInspected } = worker
      if (worker.responds) answered({ mortar: 'pulse', memory, isInspected })
    },
    stop: () => void worker.calls.push('stop'),
    close: () => void worker.calls.push('close'),
    replace: () => void worker.calls.push('replace'),
    kill() {
      worker.calls.push('kill')
      void worker.end({ code: null, signal: 'SIGKILL' })
    },
    becomeReady() {
      resolveReady()
      return settle()
    },
    end(end = {}) {
      worker.isDead = true
      resolveEnded({ code: 0, signal: null, failure: undefined, ...end })
      return settle()
    },
  }
  return worker
}

/** A clock that moves when the test moves it. */
export interface FakeClock extends PrimaryClock {
  advance(seconds: number): Promise<void>
  /** Seconds until each waiting call. */
  readonly waiting: readonly number[]
}

function createFakeClock(): FakeClock {
  let now = 0
  const timers = new Map<() => void, number>()
  return {
    now: () => now,
    after(seconds, run) {
      const call = (): void => run()
      timers.set(call, now + seconds)
      return () => timers.delete(call)
    },
    async advance(seconds) {
      now += seconds
      for (const [call, at] of timers)
        if (at <= now) {
          timers.delete(call)
          call()
        }
      await settle()
    },
    get waiting() {
      return [...timers.values()].map((at) => at - now)
    },
  }
}

/** A primary process with fake workers. */
export function createFakePrimary(count: number, reloadTimeout = 30, limits: Partial<WatchLimits> = {}) {
  const clock = createFakeClock()
  const forked: FakeWorker[] = []
  const lines: string[] = []
  const reasons: string[] = []
  const managed: string[] = []
  const write = (...given: readonly unknown[]): void =>
    void lines.push(given.filter((part) => typeof part === 'string').join(' '))
  const log: Logger = { debug: write, info: write, warn: write, error: write, child: () => log }
  const primary = new Primary({
    count,
    reloadTimeout,
    clock,
    log,
    explain: (reason) => void reasons.push(reason),
    manager: {
      ready: () => void managed.push('ready'),
      reloading: () => void managed.push('reloading'),
      stopping: () => void managed.push('stopping'),
    },
    fork(number) {
      const worker = createFakeWorker(number, 100 + forked.length)
      forked.push(worker)
      return worker
    },
  })
  const watch = new Watch(primary, {
    stuckAfter: 10,
    startTimeout: 60,
    maxMemory: undefined,
    ...limits,
    log,
    clock,
  })
  return {
    primary,
    clock,
    /** Lets the watch look at the workers, and a second pass, this many times. */
    async watch(ticks: number): Promise<void> {
      for (let tick = 0; tick < ticks; tick += 1) {
        watch.tick()
        await clock.advance(1)
      }
    },
    forked,
    lines,
    reasons,
    /** Messages to the service manager. */
    managed,
    /** Workers that have not ended. */
    alive: () => forked.filter(({ isDead }) => !isDead),
    /** Starts all workers and makes them ready. */
    async serve(): Promise<void> {
      primary.start()
      await forked[0]!.becomeReady()
      for (const worker of forked) await worker.becomeReady()
    },
  }
}
