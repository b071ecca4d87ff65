import type { CommandInput } from '../command.ts'
import { type Project, shown } from '../project/project.ts'
import { banner, describeMessage } from './banner.ts'
import { createHeldPorts, type HeldPorts } from './held-ports.ts'
import type { FromServer, ToServer } from './messages.ts'
import { endProcess, PATIENCE, spawnServer } from './spawn-server.ts'

/** The serving process, which is restarted when needed. Its port stays open meanwhile. */
export interface ServerProcess {
  start(): void
  follow(paths: readonly string[]): void
  stop(): Promise<void>
}

export function createServerProcess(project: Project, input: CommandInput): ServerProcess {
  const { note, paint } = input.terminal
  const ports = createHeldPorts()
  let run: Run | undefined
  let restarting: Promise<void> | undefined

  function start(): void {
    run = startRun({ project, input, ports }, restart)
  }

  /** Changes during a restart are either picked up by it or trigger another one. */
  function restart(paths: readonly string[]): void {
    restarting = (restarting ?? Promise.resolve()).then(async () => {
      note(paint.dim(`${shown(paths[0]!, project.root)} changed: starting again`))
      ports.hold()
      await run?.end()
      start()
    })
  }

  return {
    start,
    follow(paths) {
      if (run?.reload(paths) !== true) restart(paths)
    },
    async stop() {
      ports.close()
      await restarting
      await run?.end()
      ports.close()
    },
  }
}

/** One process from its start to its end. */
interface Run {
  /** Reports changed files to the process. @returns false if it cannot reload anything. */
  reload(paths: readonly string[]): boolean
  end(): Promise<void>
}

interface Surroundings {
  readonly project: Project
  readonly input: CommandInput
  readonly ports: HeldPorts
}

function startRun({ project, input, ports }: Surroundings, restart: (paths: readonly string[]) => void): Run {
  const { note, print, paint } = input.terminal
  const child = spawnServer(project, input)
  let isListening = false
  let isReady = false
  let hasFailed = false
  /** Changes that were sent before the process was ready. If it ends, the next process starts with them. */
  const early: string[] = []
  let isEnding = false

  function receive(message: FromServer): void {
    if (message.type === 'listen') {
      isListening = true
      ports.pass(message, child)
    } else if (message.type === 'restart') restart(message.paths)
    else if (message.type === 'failed') {
      hasFailed = true
      ports.refuse(message.message)
    } else if (message.type === 'ready') {
      isListening = true
      isReady = true
      early.length = 0
      ports.closeOthers(child)
      print(banner(message))
    } else if (message.type !== 'accepted') note(describeMessage(message, paint))
  }

  child.on('message', (message: FromServer) => {
    if (!isEnding) receive(message)
  })
  child.once('exit', (code) => {
    isReady = false
    if (isEnding) return
    if (early.length > 0) return restart(early)
    if (!hasFailed) ports.refuse(endText(code))
    note(paint.red(endText(code)))
  })
  return {
    reload(paths) {
      // A process that listens serves its first requests before it is ready. It has old versions to keep.
      if (CACHES_MODULES || !isListening || hasFailed || !child.connected) return false
      if (!isReady) early.push(...paths)
      child.send({ type: 'changed', paths } satisfies ToServer)
      return true
    },
    async end() {
      isEnding = true
      if (await endProcess(child, isReady))
        note(paint.dim(`The application did not end within ${PATIENCE / 1000} s and was killed.`))
    },
  }
}

function endText(code: number | null): string {
  return `The application ended${code === null ? '' : ` with ${code}`}. The next change starts it again.`
}

/** Bun does not read a module again under another query, so that a changed route needs a new process there. */
const CACHES_MODULES = 'bun' in process.versions
