import { spawn, spawnSync, type ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import { tmpdir } from 'node:os'
import { freePort } from './free-port.ts'
import { skipSuite } from './servers.ts'

/** A Redis server of a test, which it may stop and start again. */
export interface RedisServer {
  readonly url: string
  readonly port: number
  stop(): Promise<void>
  start(): Promise<void>
}

/** Skips the suite whose body is being read where the program `redis-server` is not installed. */
export function needRedisServer(): void {
  if (spawnSync('redis-server', ['--version']).error) skipSuite('redis-server is not installed')
}

/** Starts a Redis server in memory on a free port. */
export async function startRedis(...settings: readonly string[]): Promise<RedisServer> {
  const port = await freePort()
  let child: ChildProcess | undefined
  const server: RedisServer = {
    url: `redis://127.0.0.1:${port}`,
    port,
    async start() {
      const place = ['--port', String(port), '--bind', '127.0.0.1', '--save', '', '--appendonly', 'no']
      // A server that follows another one writes what it gets to its folder, unless it loads it immediately.
      const replica = ['--repl-diskless-load', 'swapdb', '--dir', tmpdir()]
      const options = [...place, ...replica, ...settings]
      child = spawn('redis-server', options, { stdio: ['ignore', 'pipe', 'ignore'] })
      for await (const chunk of child.stdout!)
        if (String(chunk).includes('Ready to accept connections')) break
    },
    async stop() {
      if (child === undefined || child.exitCode !== null || child.signalCode !== null) return
      const ended = once(child, 'exit')
      child.kill('SIGKILL')
      await ended
    },
  }
  await server.start()
  return server
}
