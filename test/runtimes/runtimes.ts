import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { existsSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { delimiter, join } from 'node:path'
import { type ChildOutput, outputOf } from '../docs/child-output.ts'
import { bundleScript } from '../support/bundle-script.ts'

/** A JavaScript runtime that runs the sources of this repository. */
export interface Runtime {
  readonly name: string
  /** Path of its program; undefined where it is not installed. */
  readonly program: string | undefined
  /** Arguments before the path of a script. */
  readonly args: readonly string[]
  /** The variable that names the program. */
  readonly variable?: string
  /** True for Node, which would load the sources through tsx. */
  readonly isBundled?: boolean
}

/** Node runs the same tests, which shows that they fit what Node does. */
export const RUNTIMES: readonly Runtime[] = [
  { name: 'Node', program: process.execPath, args: [], isBundled: true },
  { name: 'Bun', program: find('bun', 'TEST_BUN'), args: ['--conditions=source'], variable: 'TEST_BUN' },
  {
    name: 'Deno',
    program: find('deno', 'TEST_DENO'),
    args: ['run', '--allow-all', '--conditions=source'],
    variable: 'TEST_DENO',
  },
]

/** The reason for `skipSuite` where a runtime is not installed. */
export const absent = ({ name, variable }: Runtime): string =>
  `${name} is not on PATH, and ${variable} is not set`

function find(program: string, variable: string): string | undefined {
  const named = process.env[variable]
  if (named) return named
  const folders = (process.env['PATH'] ?? '').split(delimiter)
  return folders.map((folder) => join(folder, program)).find((path) => existsSync(path))
}

/** Returns the file that a runtime starts for a script of the repository. */
export async function scriptFor({ isBundled = false }: Runtime, file: string): Promise<string> {
  return isBundled ? bundleScript(file) : file
}

/** A script that runs until it is stopped. */
export interface RunningScript {
  readonly child: ChildProcess
  readonly output: ChildOutput
  /** Resolves to the exit code when the process has ended. */
  readonly ended: Promise<number | null>
  /** Sends a signal, by default SIGTERM, and waits for the end. @returns the exit code. */
  stop(signal?: NodeJS.Signals): Promise<number | null>
}

/** Starts a script by its absolute path, with a home outside the repository, where Deno keeps what it has compiled, in an environment of these variables alone. */
export function runScript(
  { program, args }: Runtime,
  script: readonly string[],
  options: { readonly cwd: string; readonly variables?: Readonly<Record<string, string>> },
): RunningScript {
  const home = join(tmpdir(), 'mortar-runtimes')
  const env = { PATH: process.env['PATH'], HOME: home, NO_COLOR: '1', ...options.variables }
  const child = spawn(program!, [...args, ...script], {
    cwd: options.cwd,
    env,
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  const ended = once(child, 'close').then(() => child.exitCode)
  return {
    child,
    output: outputOf(child),
    ended,
    stop(signal = 'SIGTERM') {
      if (child.exitCode === null && child.signalCode === null) child.kill(signal)
      return ended
    },
  }
}
