import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { setTimeout as wait } from 'node:timers/promises'
import { freePort } from './free-port.ts'

/** A Redis of the soak's own, in memory, which counts the limits. */
export interface RedisEngine {
  readonly url: string
  /** Ways to break it, by name. No request may fail meanwhile: limits are then counted in memory. */
  readonly faults: Readonly<Record<string, () => Promise<void>>>
  stop(): Promise<void>
}

export async function startRedis(): Promise<RedisEngine> {
  const port = await freePort()
  let server = await startServer(port)
  return {
    url: `redis://127.0.0.1:${port}`,
    faults: {
      'Redis killed for 2 s': async () => {
        await end(server)
        await wait(2000)
        server = await startServer(port)
      },
      'Redis frozen for 4 s': async () => {
        server.kill('SIGSTOP')
        await wait(4000)
        server.kill('SIGCONT')
      },
    },
    stop: () => end(server),
  }
}

async function startServer(port: number): Promise<ChildProcess> {
  const place = ['--port', String(port), '--bind', '127.0.0.1', '--save', '', '--appendonly', 'no']
  const child = spawn('redis-server', place, { stdio: ['ignore', 'pipe', 'ignore'] })
  for await (const chunk of child.stdout) if (String(chunk).includes('Ready to accept connections')) break
  return child
}

async function end(child: ChildProcess): Promise<void> {
  child.kill('SIGKILL')
  if (child.exitCode === null && child.signalCode === null) await once(child, 'exit')
}
