import cluster, { type Worker } from 'node:cluster'
import { RETIRE } from '../../app/life/worker-signals.ts'
import { closeUnacknowledged } from '../../compat/cluster.ts'
import { COUNT_VARIABLE, NUMBER_VARIABLE } from '../../support/env/process-share.ts'
import { ignore } from '../../support/ignore.ts'
import { CLOSED, isFromWorker, isPulse, LEAVE, type Ping, type Pulse, type WorkersState } from './messages.ts'
import { relayReports } from './relay-reports.ts'

/** End of a worker. */
export interface WorkerEnd {
  readonly code: number | null
  readonly signal: string | null
  /** The error that its start has reported, if there is one. */
  readonly failure: { readonly message: string; readonly foreseen: boolean } | undefined
}

/** A worker as its primary process sees it. */
export type WorkerProcess = ReturnType<typeof forkWorker>

/** Seconds until SIGKILL for a worker that ends before it was ready. */
const EARLY_END = 5

/** Prepares this process to fork workers that run the same command. */
export function setUpCluster(): void {
  cluster.schedulingPolicy = cluster.SCHED_RR
  cluster.setupPrimary({ silent: false })
  relayReports(cluster)
}

/** Forks a worker. */
export function forkWorker(number: number, count: number) {
  const worker = cluster.fork({ [COUNT_VARIABLE]: String(count), [NUMBER_VARIABLE]: String(number) })
  closeUnacknowledged(worker)
  const state = followStart(worker)
  const ended = new Promise<WorkerEnd>((resolve) => {
    worker.once('exit', (code: number | null, signal: string | null) =>
      resolve({ code: signal ? null : code, signal, failure: state.failure }),
    )
  })
  let receivePulse: (pulse: Pulse) => void = ignore
  const tell = (message: string): void => {
    if (worker.isConnected() && state.isReady) worker.send(message, () => undefined)
    else worker.process.kill('SIGTERM')
  }
  worker.on('message', (message: unknown) => {
    if (message === CLOSED && worker.isConnected()) worker.send(CLOSED, () => undefined)
    if (isPulse(message)) receivePulse(message)
  })
  return {
    number,
    pid: worker.process.pid,
    /** Resolves when the worker is ready: its start is complete, and it listens. Never rejects. */
    ready: state.ready,
    ended,
    /** Seconds in which it ends after SIGTERM, at the latest. */
    get closesWithin() {
      return state.closesWithin
    },
    /** False when its channel is closed, because it ends. */
    get isConnected() {
      return worker.isConnected()
    },
    /** Asks for a sign of life. @param answered is called with the next one. */
    ping(workers: WorkersState, answered: (pulse: Pulse) => void) {
      receivePulse = answered
      worker.send({ mortar: 'ping', workers } satisfies Ping, () => undefined)
    },
    /** Closes it with the delay that SIGTERM has in production. */
    stop: () => void worker.process.kill('SIGTERM'),
    /** Closes it without a delay. */
    close: () => tell(RETIRE),
    /** Closes it after its clients have moved to other workers. */
    replace: () => tell(LEAVE),
    kill: () => void worker.process.kill('SIGKILL'),
  }
}

interface StartState {
  readonly ready: Promise<void>
  isReady: boolean
  closesWithin: number
  failure: WorkerEnd['failure']
}

/** Follows the start of a worker. A server of its own may listen before or after the start is complete. */
function followStart(worker: Worker): StartState {
  let isStarted = false
  let isListening = false
  let resolveReady: () => void
  const state: StartState = {
    ready: new Promise((resolve) => {
      resolveReady = resolve
    }),
    isReady: false,
    closesWithin: EARLY_END,
    failure: undefined,
  }
  const check = (): void => {
    if (!isStarted || !isListening) return
    state.isReady = true
    resolveReady()
  }
  worker.on('listening', () => {
    isListening = true
    check()
  })
  worker.on('message', (message: unknown) => {
    if (!isFromWorker(message)) return
    if (message.mortar === 'failed') state.failure = message
    else {
      isStarted = true
      state.closesWithin = message.closesWithin
      check()
    }
  })
  // A signal to a worker that has just ended cannot be sent, which is not an error.
  worker.on('error', () => undefined)
  return state
}
