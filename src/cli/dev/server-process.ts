import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { extname, join } from 'node:path'
import { processVariables } from '../../support/env/environment.ts'
import { type CommandInput, textOf } from '../command.ts'
import { commandLineFolder } from '../framework-manifest.ts'
import { typeScriptArguments } from '../project/import-typescript.ts'
import { type Project, shown } from '../project/project.ts'
import { banner, describeMessage } from './banner.ts'
import type { FromServer, ToServer } from './messages.ts'
import { swappable } from './sort-changes.ts'

/** The serving process, which is restarted when needed. */
export interface ServerProcess {
  start(): void
  follow(paths: readonly string[]): void
  stop(): Promise<void>
}

export function createServerProcess(project: Project, input: CommandInput): ServerProcess {
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
      const files = CACHES_MODULES ? undefined : swappable(paths, project)
      if (files !== undefined && isReady && child?.connected)
        child.send({ type: 'reload', files } satisfies ToServer)
      // Changes during a restart are either picked up by it or trigger another one.
      else restarting = (restarting ?? Promise.resolve()).then(() => restart(paths))
    },
    async stop() {
      await restarting
      await end()
    },
  }
}

function endText(code: number | null): string {
  return `The application ended${code === null ? '' : ` with ${code}`}. The next change starts it again.`
}

async function endProcess(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return
  const exit = once(child, 'exit')
  child.kill('SIGTERM')
  await exit
}

/** Starts the process in a group of its own, so that Ctrl-C reaches it once, through this process. */
function spawnServer(project: Project, input: CommandInput): ChildProcess {
  const { app, routes, port, host } = Object.fromEntries(
    ['app', 'routes', 'port', 'host'].map((name) => [name, textOf(input, name)]),
  )
  const program = join(commandLineFolder(), `dev/main${extname(import.meta.filename)}`)
  const variables = processVariables()
  return spawn(
    process.execPath,
    [...typeScriptArguments(project.root), program, JSON.stringify({ app, routes })],
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

/** Bun does not read a module again under another query, so that a changed route needs a new process there. */
const CACHES_MODULES = 'bun' in process.versions
