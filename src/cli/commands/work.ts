import { processVariables } from '../../support/env/environment.ts'
import { BUILD_OPTIONS, runBuild } from '../build/run-build.ts'
import { type Command, readPort } from '../command.ts'
import { workInBackground } from '../project/serve.ts'
import { findServiceManager, reportState } from '../service-manager.ts'

/** Runs the background work of a build, such as its jobs, in a process that serves no requests. */
export const work: Command = {
  name: 'work',
  summary: 'Run the jobs of a build in a process without requests',
  usage: 'work [--port PORT] [--out FOLDER] [--stale]',
  options: {
    port: { type: 'string', help: 'port of /livez and /readyz; without it nothing listens' },
    ...BUILD_OPTIONS,
  },
  serves: true,
  async run(input) {
    const port = readPort(input)
    processVariables()['FRAMEWORK_MODE'] = 'work'
    const manager = findServiceManager(processVariables())
    await runBuild(input, ({ app }) => workInBackground(app, port))
    reportState(manager)
    return 0
  },
}
