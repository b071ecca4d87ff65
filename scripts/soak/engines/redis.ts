import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdirSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as wait } from 'node:timers/promises'
import { freePort } from '../free-port.ts'
import { startNetwork } from '../network.ts'
import { runProgram } from '../run-program.ts'
import type { Engine } from './engine.ts'

/** Starts a Redis of its own in `directory`, behind a proxy. It keeps what it has accepted. */
export async function startRedis(directory: string): Promise<Engine> {
  const data = join(directory, 'redis')
  const port = await freePort()
  mkdirSync(data)
  let server = await startServer(data, port)
  const network = await startNetwork(port)
  const version = /v=([\d.]+)/.exec(await runProgram(['redis-server', '--version']))
  return {
    title: `Redis ${version?.[1]} with an append-only file, ${network.title}`,
    url: `redis://127.0.0.1:${network.port}`,
    faults: {
      'Redis killed for 2 s': async () => {
        await end(server)
        await wait(2000)
        server = await startServer(data, port)
      },
      'connections to Redis cut for 1 s': () => network.cut(1000),
      'network to Redis silent for 4 s': () => network.silence(4000),
    },
    async stop() {
      await network.stop()
      await end(server)
    },
  }
}

async function startServer(data: string, port: number): Promise<ChildProcess> {
  const options = [
    '--port',
    String(port),
    '--bind',
    '127.0.0.1',
    '--dir',
    data,
    '--appendonly',
    'yes',
    '--save',
    '',
  ]
  const child = spawn('redis-server', options, { stdio: 'ignore', cwd: '/' })
  for (let tries = 0; tries < 300; tries++) {
    const pong = await runProgram(['redis-cli', '-p', String(port), 'ping']).catch(() => '')
    if (pong.trim() === 'PONG') return child
    await wait(100)
  }
  throw new Error('redis-server does not accept connections.')
}

async function end(child: ChildProcess): Promise<void> {
  child.kill('SIGKILL')
  if (child.exitCode === null && child.signalCode === null) await once(child, 'exit')
}
