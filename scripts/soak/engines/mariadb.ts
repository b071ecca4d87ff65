import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdirSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as wait } from 'node:timers/promises'
import { freePort } from '../free-port.ts'
import { startNetwork } from '../network.ts'
import { runProgram } from '../run-program.ts'
import { asUser, giveTo } from './as-user.ts'
import type { Engine } from './engine.ts'

/** Starts a MariaDB of its own in `directory`, behind a proxy. */
export async function startMariadb(directory: string): Promise<Engine> {
  const data = join(directory, 'mariadb')
  const socket = join(data, 'socket')
  const port = await freePort()
  mkdirSync(data)
  giveTo('mysql', data)
  const install = ['mariadb-install-db', '--no-defaults', `--datadir=${data}/data`]
  await runProgram(asUser('mysql', [...install, '--auth-root-authentication-method=normal']))
  const client = (sql: string): Promise<string> =>
    runProgram(['mariadb', '--no-defaults', `--socket=${socket}`, '-u', 'root', '-N', '-e', sql])
  let server = await startServer({ data, socket, port, client })
  await client('create database notes')
  // An administrator may write although the server is read-only.
  await client('create user notes@localhost; grant all on notes.* to notes@localhost')
  const network = await startNetwork(port)
  return {
    title: `MariaDB ${(await client('select version()')).trim()}, ${network.title}`,
    url: `mysql://notes@127.0.0.1:${network.port}/notes`,
    faults: {
      'MariaDB killed for 2 s': async () => {
        await end(server, 'SIGKILL')
        await wait(2000)
        server = await startServer({ data, socket, port, client })
      },
      'MariaDB read-only for 5 s': async () => {
        await client('set global read_only = 1')
        await wait(5000)
        await client('set global read_only = 0')
      },
      'connections cut for 1 s': () => network.cut(1000),
      'network silent for 4 s': () => network.silence(4000),
      'network with 1 s of latency for 8 s': () => network.slow(8000, 1000),
    },
    async stop() {
      await network.stop()
      await end(server, 'SIGKILL')
    },
  }
}

interface ServerPlan {
  readonly data: string
  readonly socket: string
  readonly port: number
  client(sql: string): Promise<string>
}

async function startServer({ data, socket, port, client }: ServerPlan): Promise<ChildProcess> {
  const options = [
    `--datadir=${data}/data`,
    `--socket=${socket}`,
    `--port=${port}`,
    '--bind-address=127.0.0.1',
  ]
  const user = process.getuid?.() === 0 ? ['--user=mysql'] : []
  const pid = `--pid-file=${data}/pid`
  const child = spawn('mariadbd', ['--no-defaults', ...options, ...user, pid], { stdio: 'ignore', cwd: '/' })
  for (let tries = 0; tries < 300; tries++) {
    if (child.exitCode !== null) throw new Error(`mariadbd ended with ${child.exitCode}.`)
    try {
      await client('select 1')
      return child
    } catch {
      await wait(100)
    }
  }
  throw new Error('mariadbd does not accept connections.')
}

async function end(child: ChildProcess, signal: NodeJS.Signals): Promise<void> {
  child.kill(signal)
  if (child.exitCode === null && child.signalCode === null) await once(child, 'exit')
}
