import type { ChildProcess } from 'node:child_process'
import type { CommandInput } from '../command.ts'
import { type Project, shown } from '../project/project.ts'
import { addresses } from './banner.ts'
import { createHeldPorts, type HeldPorts } from './held-ports.ts'
import type { FromServer, ToServer } from './messages.ts'
import { endProcess, PASSES_SOCKETS, PATIENCE, spawnServer } from './spawn-server.ts'

/** Creates the serving process, and one in advance for the next change. Its port stays open while it restarts. */
export function createServerProcess(project: Project, input: CommandInput) {
  const { note, print, paint } = input.terminal
  const ports = createHeldPorts()
  let run: Run | undefined
  let next: ChildProcess | undefined
  let restarting: Promise<void> | undefined
  let isStopped = false
  let printed = ''

  function start(): void {
    const child = isUsable(next) ? next : spawnServer(input)
    next = undefined
    run = startRun({ child, input, ports }, started)
  }

  function started(message: FromServer): void {
    if (message.type === 'ready') printReady(message)
    if (PASSES_SOCKETS && !isStopped) next ??= spawnServer(input)
  }

  function printReady(message: FromServer & { readonly type: 'ready' }): void {
    const text = addresses(message)
    if (text !== printed) print(text)
    printed = text
    print(`  Ready in ${message.milliseconds} ms, watching for changes`)
  }

  async function restart(): Promise<void> {
    ports.hold()
    await run?.end()
    restarting = undefined
    if (!isStopped) start()
  }

  return {
    start,
    follow(paths: readonly string[]) {
      note(paint.dim(`${shown(paths[0]!, project.root)} changed: starting again`))
      // The prepared process may have read package.json and tsconfig.json.
      if (paths.some((path) => path.endsWith('.json'))) next = void next?.kill()
      restarting ??= restart()
    },
    async stop() {
      isStopped = true
      next?.kill()
      ports.close()
      await restarting
      await run?.end()
      ports.close()
    },
  }
}

function isUsable(child: ChildProcess | undefined): child is ChildProcess {
  return child?.connected === true
}

/** One process from its start to its end. */
interface Run {
  end(): Promise<void>
}

interface Surroundings {
  readonly child: ChildProcess
  readonly input: CommandInput
  readonly ports: HeldPorts
}

/** Starts the application in a process. @param started called when it serves requests, or has failed. */
function startRun({ child, input, ports }: Surroundings, started: (message: FromServer) => void): Run {
  const { note, paint } = input.terminal
  let isReady = false
  let hasFailed = false
  let isEnding = false

  function receive(message: FromServer): void {
    if (message.type === 'listen') ports.pass(message, child)
    else if (message.type === 'broken')
      note(`${paint.red('broken')} ${message.message}\n${paint.dim(AROUND)}`)
    else if (message.type === 'failed') {
      hasFailed = true
      ports.refuse(message.message)
      started(message)
    } else if (message.type === 'ready') {
      isReady = true
      ports.closeOthers(child)
      started(message)
    }
  }

  child.on('message', (message: FromServer) => {
    if (!isEnding) receive(message)
  })
  child.once('exit', (code) => {
    isReady = false
    if (isEnding) return
    if (!hasFailed) ports.refuse(endText(code))
    note(paint.red(endText(code)))
  })
  if (PASSES_SOCKETS) child.send({ type: 'start' } satisfies ToServer)
  return {
    async end() {
      isEnding = true
      if (await endProcess(child, isReady))
        note(paint.dim(`The application did not end within ${PATIENCE / 1000} s and was killed.`))
    },
  }
}

const AROUND = 'The other routes are served; these respond with their error.'

function endText(code: number | null): string {
  return `The application ended${code === null ? '' : ` with ${code}`}. The next change starts it again.`
}
