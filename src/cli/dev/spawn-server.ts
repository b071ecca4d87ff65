import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { extname, join } from 'node:path'
import { processVariables } from '../../support/env/environment.ts'
import { type CommandInput, textOf } from '../command.ts'
import { commandLineFolder } from '../framework-manifest.ts'
import type { ToServer } from './messages.ts'
import type { ServingOptions } from './serve-for-development.ts'

/** Milliseconds after which a process that does not end is killed. */
export const PATIENCE = 3000

/** Ends a process. @returns true if it had to be killed. */
export async function endProcess(child: ChildProcess, isReady: boolean): Promise<boolean> {
  if (child.exitCode !== null || child.signalCode !== null) return false
  const exit = once(child, 'exit')
  let wasKilled = false
  const timer = setTimeout(() => {
    wasKilled = child.kill('SIGKILL')
  }, PATIENCE)
  if (isReady && child.connected) child.send({ type: 'close' } satisfies ToServer, () => undefined)
  else child.kill('SIGTERM')
  await exit
  clearTimeout(timer)
  return wasKilled
}

/** Starts the process in a group of its own, so that Ctrl-C reaches it once, through this process. */
export function spawnServer(input: CommandInput): ChildProcess {
  const { app, routes, port, host } = Object.fromEntries(
    ['app', 'routes', 'port', 'host'].map((name) => [name, textOf(input, name)]),
  )
  const program = join(commandLineFolder(), `dev/main${extname(import.meta.filename)}`)
  const variables = processVariables()
  const options = { values: { app, routes }, waits: PASSES_SOCKETS }
  return spawn(
    process.execPath,
    [...process.execArgv, program, JSON.stringify(options satisfies Loose<ServingOptions>)],
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

/** Options as JSON accepts them: it leaves out undefined values. */
type Loose<T> = { readonly [K in keyof T]: T[K] extends object ? Readonly<Record<string, unknown>> : T[K] }

/** Bun and Deno pass no sockets between processes, so that their port is closed during a restart. */
export const PASSES_SOCKETS = !('bun' in process.versions) && !('deno' in process.versions)
