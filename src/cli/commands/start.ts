import { processVariables } from '../../support/env/environment.ts'
import { isWorker } from '../../support/env/process-share.ts'
import { BUILD_OPTIONS, findBuild, runBuild } from '../build/run-build.ts'
import { type Command, readTime, textOf } from '../command.ts'
import { productionVariables, stateFolder } from '../project/state-folder.ts'
import { serve } from '../project/serve.ts'
import { findServiceManager, reportState } from '../service-manager.ts'
import type { PrimaryOptions } from '../workers/run-primary.ts'
import { LEAST_STUCK, readMaxMemory, readTimeOrOff, readWorkerCount } from '../workers/worker-options.ts'

/** Runs the output of `mortar build` in this process, or in several workers. */
export const start: Command = {
  name: 'start',
  summary: 'Run the output of mortar build',
  usage:
    'start [--workers N|auto] [--reload-timeout TIME] [--stuck-after TIME|off] [--start-timeout TIME|off] [--max-memory SIZE] [--out FOLDER] [--stale]',
  options: {
    workers: { type: 'string', help: 'number of processes, or auto for one per core; sets WORKERS' },
    'reload-timeout': {
      type: 'string',
      help: 'how long a reload (SIGHUP) waits for a new worker; 30s by default',
    },
    'stuck-after': {
      type: 'string',
      help: 'how long a worker may not respond before it is killed and replaced; 10s by default',
    },
    'start-timeout': {
      type: 'string',
      help: 'how long a worker may start before it is killed and another one starts; 10m by default',
    },
    'max-memory': {
      type: 'string',
      help: 'memory above which a worker is replaced, such as 512mb; no limit by default',
    },
    ...BUILD_OPTIONS,
  },
  serves: true,
  async run(input) {
    if (isWorker()) {
      const { runWorker } = await import('../workers/worker.ts')
      await runWorker(() => runBuild(input, serve))
      return 0
    }
    const options = {
      reloadTimeout: readTime('reload-timeout', textOf(input, 'reload-timeout') ?? '30s'),
      stuckAfter: readTimeOrOff('stuck-after', textOf(input, 'stuck-after') ?? '10s', LEAST_STUCK),
      startTimeout: readTimeOrOff('start-timeout', textOf(input, 'start-timeout') ?? '10m'),
      maxMemory: readMaxMemory(textOf(input, 'max-memory')),
    }
    const { root } = findBuild(input)
    const variables = productionVariables(root)
    const count = readWorkerCount(textOf(input, 'workers'), variables)
    const manager = findServiceManager(processVariables())
    const state = stateFolder(root, variables)
    if (count !== undefined) return runWorkers({ count, variables, manager, state, ...options })
    await runBuild(input, serve)
    reportState(manager)
    return 0
  },
}

async function runWorkers(options: PrimaryOptions): Promise<number> {
  const { runPrimary } = await import('../workers/run-primary.ts')
  process.exitCode = await runPrimary(options)
  // Standard output is written synchronously, and nothing else is left to do.
  process.exit()
}
