import cluster from 'node:cluster'
import { url as inspectorUrl } from 'node:inspector'
import { RETIRE } from '../../app/life/worker-signals.ts'
import { ignore } from '../../support/ignore.ts'
import { readableError } from '../../support/readable-error.ts'
import { sendToParent } from '../../support/send-to-parent.ts'
import type { ProjectApp } from '../project/import-app.ts'
import { leaveClients, LONGEST_LEAVE } from './leave.ts'
import { CLOSED, type FromWorker, isPing, LEAVE, type Pulse, type WorkersState } from './messages.ts'
import { addWorkerGauges } from './worker-gauges.ts'

/** Seconds that a worker may need beyond its own limits. */
const SPARE = 5

/** Runs an application as a worker: it reports its start to the primary process and ends when that process is gone. */
export async function runWorker(start: () => Promise<ProjectApp>): Promise<void> {
  let app: ProjectApp | undefined
  let workers: WorkersState | undefined
  followPrimary(() => leaveClients(app?.listening?.server, untilClosed))
  answerPings((state) => {
    workers = state
  })
  try {
    app = await start()
    addWorkerGauges(app.services.gauges, () => workers)
    await sendToParent<FromWorker>(process, { mortar: 'started', closesWithin: closesWithin(app) })
  } catch (error) {
    const failure: FromWorker = { mortar: 'failed', message: describe(error), foreseen: isForeseen(error) }
    await sendToParent(process, failure)
    process.exit(1)
  }
}

/**
 * Ignores the signals of a terminal or of `systemctl kill`, which reach every process, from the beginning of the start on.
 * An application that does not follow its primary process itself (`signals: false`) gets SIGTERM.
 */
function followPrimary(leave: () => Promise<void>): void {
  process.on('SIGINT', ignore).on('SIGHUP', ignore).on('SIGUSR2', ignore)
  const end = (): void => void process.kill(process.pid, 'SIGTERM')
  process.on('message', (message: unknown) => {
    if (message === LEAVE) void leave().then(() => process.emit('message', RETIRE, undefined))
    if (message === RETIRE) end()
  })
  const { worker } = cluster
  worker?.on('disconnect', () => {
    // Otherwise Node exits immediately, and the active requests are lost.
    worker.exitedAfterDisconnect = true
    end()
  })
}

/** Tells the primary process that this process is alive, and passes on what that process says about all workers. */
function answerPings(learn: (workers: WorkersState) => void): void {
  process.on('message', (message: unknown) => {
    if (!isPing(message)) return
    learn(message.workers)
    const isInspected = inspectorUrl() !== undefined
    void sendToParent<Pulse>(process, { mortar: 'pulse', memory: process.memoryUsage.rss(), isInspected })
  })
}

/** Resolves with the reply of the primary process. Without that process, the worker ends by itself. */
function untilClosed(): Promise<void> {
  return new Promise((resolve) => {
    process.on('message', function receive(message: unknown) {
      if (message !== CLOSED) return
      process.off('message', receive)
      resolve()
    })
    void sendToParent(process, CLOSED)
  })
}

function closesWithin({ closeLimits: { shutdownTimeout, drainDelay } }: ProjectApp): number {
  return drainDelay + 2 * shutdownTimeout + LONGEST_LEAVE / 1000 + SPARE
}

function isForeseen(error: unknown): boolean {
  return (error as Partial<Error> | null)?.name === 'StartupError'
}

/** Without secrets, because the primary process logs it and prints it to standard error. */
function describe(error: unknown): string {
  return readableError(error, isForeseen(error) ? 'message' : 'stack')
}
