import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { existsSync, readdirSync, readFileSync, readlinkSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as wait } from 'node:timers/promises'
import { expect } from 'chai'
import { type ChildOutput, outputOf } from '../../docs/child-output.ts'
import { freePort } from '../../support/free-port.ts'
import { createProject, type TestProject } from '../project.ts'

/** A running `mortar start --workers`, in a process group of its own. */
export interface ServingWorkers {
  readonly child: ChildProcess
  readonly port: number
  readonly output: ChildOutput
  /** Waits until the log contains an event this many times. */
  untilEvent(event: string, times: number): Promise<void>
  /** Process ids of the workers that run. */
  workers(): readonly number[]
  /** Sends a signal to the primary process, and waits for its end. @returns exit code and signal. */
  end(signal: NodeJS.Signals): Promise<readonly [number | null, NodeJS.Signals | null]>
  /** Waits for the end without a signal. */
  ended(): Promise<readonly [number | null, NodeJS.Signals | null]>
  /** Kills whatever is left. */
  cleanUp(): Promise<void>
}

/** Starts the build of a project with workers. */
export async function serveWorkers(
  project: TestProject,
  args: readonly string[],
  variables: Readonly<Record<string, string>> = {},
): Promise<ServingWorkers> {
  const port = await freePort()
  const child = spawn(process.execPath, [programOf(project), 'start', ...args], {
    cwd: project.directory,
    // A group of its own, so that a test can send a signal to all its processes, as a terminal does.
    detached: true,
    stdio: ['ignore', 'pipe', 'pipe'],
    env: { PATH: process.env['PATH'], NO_COLOR: '1', PORT: String(port), DRAIN_DELAY: '0', ...variables },
  })
  const output = outputOf(child)
  const exited = once(child, 'exit') as Promise<[number | null, NodeJS.Signals | null]>
  return {
    child,
    port,
    output,
    async untilEvent(event, times) {
      const isThere = (): boolean => output.text().split(`"event":"${event}"`).length > times
      while (!isThere()) {
        if (child.exitCode !== null) throw new Error(`The primary process ended:\n${output.text()}`)
        await wait(20)
      }
    },
    workers: () => childrenOf(child.pid!),
    end(signal) {
      child.kill(signal)
      return exited
    },
    ended: () => exited,
    async cleanUp() {
      if (isAlive(-child.pid!)) process.kill(-child.pid!, 'SIGKILL')
      await exited
    },
  }
}

/** The program `mortar` that a project uses. */
export function programOf(project: TestProject): string {
  return join(readlinkSync(join(project.directory, 'node_modules/mortar')), 'dist/cli/main.js')
}

/** A project that is built once for a suite. Call this in the body of a `describe`. */
export function builtProject(files: Readonly<Record<string, string>>) {
  let project: TestProject
  let serving: ServingWorkers | undefined
  before(() => {
    project = createProject(files)
    const { code, err } = project.mortar(['build'])
    expect(code, err).to.equal(0)
  })
  afterEach(async () => {
    await serving?.cleanUp()
    serving = undefined
  })
  after(() => project.remove())
  return {
    get project() {
      return project
    },
    /** Serves the build until the end of the test. */
    async serve(args: readonly string[], variables?: Readonly<Record<string, string>>) {
      return (serving = await serveWorkers(project, args, variables))
    },
  }
}

/** True if a process exists, or for a negative id any process of its group. */
export function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0)
    return true
  } catch {
    return false
  }
}

/** Reads the children of a process from /proc. */
function childrenOf(parent: number): readonly number[] {
  return readdirSync('/proc')
    .filter((name) => /^\d+$/.test(name))
    .map(Number)
    .filter((pid) => parentOf(pid) === parent)
}

function parentOf(pid: number): number | undefined {
  const file = `/proc/${pid}/stat`
  try {
    // The name of the program, in parentheses, may contain blanks. State and parent follow.
    const [state, parent] = readFileSync(file, 'utf8').split(') ').at(-1)!.split(' ')
    return state === 'Z' ? undefined : Number(parent)
  } catch (error) {
    if (existsSync(file)) throw error
    return undefined
  }
}
