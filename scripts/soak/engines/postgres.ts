import { existsSync, mkdirSync, readdirSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as wait } from 'node:timers/promises'
import { freePort } from '../free-port.ts'
import { startNetwork } from '../network.ts'
import { runProgram } from '../run-program.ts'
import { asUser, giveTo } from './as-user.ts'
import type { Engine } from './engine.ts'

const DEBIAN = '/usr/lib/postgresql'

/** A server between the application and PostgreSQL. */
export interface Front {
  readonly title: string
  readonly port: number
  stop(): Promise<void>
}

/** Starts a PostgreSQL of its own in `directory`, behind a proxy that breaks the network, and behind `startFront`. */
export async function startPostgres(
  directory: string,
  startFront?: (port: number) => Promise<Front>,
): Promise<Engine> {
  const data = join(directory, 'postgres')
  const bin = programs()
  const port = await freePort()
  mkdirSync(data)
  giveTo('postgres', data)
  const run = (program: string, ...args: string[]): Promise<string> =>
    runProgram(asUser('postgres', [join(bin, program), ...args]))
  await run('initdb', '-D', join(data, 'data'), '-U', 'postgres', '-A', 'trust', '--no-sync', '-E', 'UTF8')
  const settings = `-p ${port} -c listen_addresses=127.0.0.1 -c unix_socket_directories=${data}`
  const control = (...args: string[]): Promise<string> =>
    run('pg_ctl', '-D', join(data, 'data'), '-l', join(data, 'log'), '-w', ...args)
  await control('-o', settings, 'start')
  const front = await startFront?.(port)
  const network = await startNetwork(front?.port ?? port)
  return {
    title: `PostgreSQL ${(await run('postgres', '--version')).trim().split(' ')[2]}${front ? `, ${front.title}` : ''}, ${network.title}`,
    url: `postgres://postgres@127.0.0.1:${network.port}/postgres`,
    faults: {
      'PostgreSQL stopped immediately for 2 s': async () => {
        await control('-m', 'immediate', 'stop')
        await wait(2000)
        await control('-o', settings, 'start')
      },
      'PostgreSQL read-only for 5 s': () => refuseWrites(run, ['-h', data, '-p', String(port)]),
      'connections cut for 1 s': () => network.cut(1000),
      'network silent for 4 s': () => network.silence(4000),
      'network with 1 s of latency for 8 s': () => network.slow(8000, 1000),
    },
    async stop() {
      await network.stop()
      await front?.stop()
      await control('-m', 'immediate', 'stop')
    },
  }
}

/** Makes every transaction of the server read-only, as after a failover. */
async function refuseWrites(
  run: (program: string, ...args: string[]) => Promise<string>,
  place: readonly string[],
): Promise<void> {
  const set = async (value: string): Promise<void> => {
    const setting = `alter system set default_transaction_read_only = ${value}`
    await run('psql', ...place, '-U', 'postgres', '-c', setting, '-c', 'select pg_reload_conf()')
  }
  await set('on')
  await wait(5000)
  await set('off')
}

/** Debian keeps the server's programs outside PATH. */
function programs(): string {
  if (!existsSync(DEBIAN)) return ''
  const newest = readdirSync(DEBIAN).toSorted((a, b) => Number(b) - Number(a))[0] ?? ''
  return join(DEBIAN, newest, 'bin')
}
