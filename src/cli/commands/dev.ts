import { type Command, readPort } from '../command.ts'
import { createServerProcess } from '../dev/server-process.ts'
import { projectFilter } from '../dev/sort-changes.ts'
import { watchTree } from '../dev/watch-tree.ts'
import { findProject, PROJECT_OPTIONS } from '../project/project.ts'

/** Serves the application, and starts it again after each change of a file. */
export const dev: Command = {
  name: 'dev',
  summary: 'Serve the application, and start it again after each change',
  usage: 'dev [--port PORT] [--host HOST]',
  options: {
    ...PROJECT_OPTIONS,
    port: { type: 'string', short: 'p', help: 'sets PORT' },
    host: { type: 'string', help: 'sets HOST' },
  },
  async run(input) {
    // A change of a file cannot correct an argument, so the command ends.
    readPort(input)
    const project = findProject(input)
    const server = createServerProcess(project, input)
    const changed = (paths: readonly string[]): void => server.follow(paths)
    const unwatch = watchTree(project.root, projectFilter(project), changed, input.terminal)
    server.start()
    await untilSignal()
    unwatch()
    await server.stop()
    return 0
  },
}

function untilSignal(): Promise<void> {
  return new Promise((resolve) => {
    for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, () => resolve())
  })
}
