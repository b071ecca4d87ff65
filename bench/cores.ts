import { spawnSync } from 'node:child_process'
import { availableParallelism } from 'node:os'

const hasTaskset = spawnSync('taskset', ['-p', String(process.pid)]).status === 0

/** True when server and client run on different cores. */
export const isPinned = hasTaskset && availableParallelism() > 1

/** The core of each side. Other processes of a machine tend to run on the first core. */
const CORES = { server: availableParallelism() - 1, client: availableParallelism() - 2 }

/** Options for `fork` that keep a Node process on its core. `args` go to Node itself. */
export function pinned(
  side: keyof typeof CORES,
  args: readonly string[],
): { execPath?: string; execArgv: string[] } {
  if (!isPinned) return { execArgv: [...args] }
  return { execPath: 'taskset', execArgv: ['-c', String(CORES[side]), process.execPath, ...args] }
}

/** A command line that keeps a program on the client's core. */
export function pinnedCommand(command: string, args: readonly string[]): [string, string[]] {
  return isPinned ? ['taskset', ['-c', String(CORES.client), command, ...args]] : [command, [...args]]
}
