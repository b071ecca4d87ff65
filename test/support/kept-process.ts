import { spawn, type ChildProcessByStdio } from 'node:child_process'
import { once } from 'node:events'
import { createInterface } from 'node:readline'
import type { Readable, Writable } from 'node:stream'
import { bundleScript } from './bundle-script.ts'

/** A scene in a process of its own. */
export interface KeptProcess {
  /** The address that the scene printed. */
  readonly url: string
  /** Kills the process, as the lack of memory does. */
  kill(): Promise<void>
  /** Ends the scene. The process plays the next one. @throws if the scene left something open. */
  release(): Promise<void>
}

interface Stage {
  readonly child: ChildProcessByStdio<Writable, Readable, null>
  /** Sends a line and returns the next line of the output. */
  ask(line: string): Promise<string>
}

/** Processes without a scene, by script. */
const idle = new Map<string, Stage[]>()

/**
 * Plays a scene in a process of a script that calls `playScenes`, with the options of the scene. The start of such a
 * process needs 0.6 s of CPU, a scene a tenth of that, so processes are kept for later tests, also of other files.
 * They end with this process.
 */
export async function takeProcess(script: string, options: object): Promise<KeptProcess> {
  const kept = idle.get(script) ?? []
  idle.set(script, kept)
  const stage = kept.pop() ?? startStage(await bundleScript(script))
  const { child } = stage
  const url = await stage.ask(JSON.stringify(options))
  return {
    url,
    async kill() {
      const ended = once(child, 'exit')
      child.kill('SIGKILL')
      await ended
    },
    async release() {
      if (child.signalCode !== null) return
      await stage.ask('')
      kept.push(stage)
    },
  }
}

function startStage(file: string): Stage {
  const child = spawn(process.execPath, [file], { stdio: ['pipe', 'pipe', 'inherit'] })
  const lines = createInterface(child.stdout)
  // An idle process keeps no test process alive.
  for (const each of [child, child.stdin, child.stdout] as { unref(): void }[]) each.unref()
  const exit = once(child, 'exit').then(([code, signal]) => {
    throw new Error(`A process of a scene ended with ${code ?? signal}.`)
  })
  exit.catch(() => undefined)
  return {
    child,
    async ask(line) {
      const reply = once(lines, 'line')
      child.stdin.write(`${line}\n`)
      const [first] = (await Promise.race([reply, exit])) as [string]
      return first
    },
  }
}
