import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { fileURLToPath } from 'node:url'
import { processVariables } from '../../support/env/environment.ts'
import { type Command, type CommandInput, textOf } from '../command.ts'
import { banner, describeMessage } from '../dev/banner.ts'
import type { FromServer, ToServer } from '../dev/messages.ts'
import { projectFilter, swappable } from '../dev/sort-changes.ts'
import { watchTree } from '../dev/watch-tree.ts'
import { typeScriptArguments } from '../project/import-typescript.ts'
import { findProject, type Project, PROJECT_OPTIONS, shown } from '../project/project.ts'

/** Serves the application and follows every change of its files. */
export const dev: Command = {
  name: 'dev',
  summary: 'Serve the application; changed routes are swapped in place, anything else starts it again',
  usage: 'dev [--port PORT] [--host HOST]',
  options: {
    ...PROJECT_OPTIONS,
    port: { type: 'string', short: 'p', help: 'sets PORT' },
    host: { type: 'string', help: 'sets HOST' },
  },
  async run(input) {
    const project = findProject(input)
    const server = createServer(project, input)
    const unwatch = watchTree(project.root, projectFilter(project), (paths) => server.follow(paths))
    server.start()
    await untilSignal()
    unwatch()
    await server.stop()
    return 0
  },
}

/** The process that serves, started again when it has to be. */
interface Server {
  start(): void
  follow(paths: readonly string[]): void
  stop(): Promise<void>
}

function createServer(project: Project, input: CommandInput): Server {
  const { note, paint } = input.terminal
  let child: ChildProcess | undefined
  let isReady = false
  let restarting: Promise<void> | undefined

  function start(): void {
    const begun = spawnServer(project, input)
    child = begun
    isReady = false
    begun.on('message', (message: FromServer) => {
      isReady ||= message.type === 'ready'
      if (message.type === 'ready') input.terminal.print(banner(message))
      else note(describeMessage(message, paint))
    })
    begun.once('exit', (code) => {
      if (child !== begun) return
      child = undefined
      note(paint.red(endText(code)))
    })
  }

  async function restart(paths: readonly string[]): Promise<void> {
    note(paint.dim(`${shown(paths[0]!, project.root)} changed: starting again`))
    await end()
    start()
  }

  async function end(): Promise<void> {
    const ending = child
    child = undefined
    if (ending !== undefined) await endProcess(ending)
  }

  return {
    start,
    follow(paths) {
      const files = swappable(paths, project)
      if (files !== undefined && isReady && child?.connected)
        child.send({ type: 'reload', files } satisfies ToServer)
      // A change while it starts again is in what it will start with, or comes too late for it.
      else restarting = (restarting ?? Promise.resolve()).then(() => restart(paths))
    },
    async stop() {
      await restarting
      await end()
    },
  }
}

function endText(code: number | null): string {
  return `The application ended${code === null ? '' : ` with ${code}`}; it starts again after a change.`
}

async function endProcess(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return
  const exit = once(child, 'exit')
  child.kill('SIGTERM')
  await exit
}

/** In a group of its own, so that Ctrl-C reaches it once, through this process. */
function spawnServer(project: Project, input: CommandInput): ChildProcess {
  const { app, routes, port, host } = Object.fromEntries(
    ['app', 'routes', 'port', 'host'].map((name) => [name, textOf(input, name)]),
  )
  const own = import.meta.filename.endsWith('.ts') ? '../dev/main.ts' : '../dev/main.js'
  const variables = processVariables()
  return spawn(
    process.execPath,
    [
      ...typeScriptArguments(project.root),
      fileURLToPath(new URL(own, import.meta.url)),
      JSON.stringify({ app, routes }),
    ],
    {
      cwd: input.directory,
      detached: true,
      stdio: ['ignore', 'inherit', 'inherit', 'ipc'],
      env: {
        ...variables,
        FRAMEWORK_MODE: 'dev',
        ...(port === undefined ? {} : { PORT: port }),
        ...(host === undefined ? {} : { HOST: host }),
      },
    },
  )
}

function untilSignal(): Promise<void> {
  return new Promise((resolve) => {
    for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, () => resolve())
  })
}
