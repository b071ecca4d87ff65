import { type ChildProcess, spawn } from 'node:child_process'
import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

/** Exit code and output of a command. */
export interface Ran {
  readonly code: number | null
  readonly out: string
  readonly err: string
}

/** A command line with its working directory and its whole environment. */
export interface HostedCommand {
  readonly args: readonly string[]
  readonly directory: string
  readonly variables: Readonly<Record<string, string | undefined>>
}

const DEADLINE = 120_000

/** By the folder of the framework. The end of their standard input ends them, also if this process is killed. */
const hosts = new Map<string, ChildProcess>()

/** Runs a command in a process that goes on to run those that follow, and waits for its end. */
export function runHosted(framework: string, command: HostedCommand): Ran {
  const folder = mkdtempSync(join(tmpdir(), 'mortar-reply-'))
  const reply = join(folder, 'reply.json')
  try {
    // Node writes a short line to a pipe immediately.
    hostOf(framework).stdin!.write(`${JSON.stringify({ ...command, reply })}\n`)
    return waitFor(reply, command)
  } finally {
    rmSync(folder, { recursive: true })
  }
}

function hostOf(framework: string): ChildProcess {
  let host = hosts.get(framework)
  if (!host) {
    const args = [join(import.meta.dirname, 'command-host.mjs'), framework]
    host = spawn(process.execPath, args, { env: {}, stdio: ['pipe', 'ignore', 'inherit'] })
    host.unref()
    ;(host.stdin as unknown as { unref(): void }).unref()
    hosts.set(framework, host)
  }
  return host
}

function waitFor(reply: string, { args }: HostedCommand): Ran {
  const sleep = new Int32Array(new SharedArrayBuffer(4))
  for (let waited = 0; waited < DEADLINE; waited += 5)
    try {
      return JSON.parse(readFileSync(reply, 'utf8')) as Ran
    } catch {
      Atomics.wait(sleep, 0, 0, 5)
    }
  throw new Error(`The host has not run: mortar ${args.join(' ')}`)
}
