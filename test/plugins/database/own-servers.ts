import { type ChildProcess, execFile, spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { chownSync, existsSync, mkdirSync, readdirSync, writeFileSync } from 'node:fs'
import { connect } from 'node:net'
import { join } from 'node:path'
import { setTimeout as wait } from 'node:timers/promises'
import { promisify } from 'node:util'
import { runStatement } from '../../support/run-statement.ts'

const execute = promisify(execFile)

/** A server that a test has started for itself and stops again. */
export interface OwnServer {
  readonly host: string
  readonly port: number
  readonly folder: string
  stop(): Promise<void>
}

/** Folder of PostgreSQL's programs; undefined where they are not installed. */
export const POSTGRES_PROGRAMS = findPostgres()

function findPostgres(): string | undefined {
  const versions = '/usr/lib/postgresql'
  const folders = existsSync(versions) ? readdirSync(versions).map((name) => join(versions, name, 'bin')) : []
  return folders.findLast((folder) => existsSync(join(folder, 'initdb')))
}

/** Account and environment of a server: servers refuse to run as root, and know no locale that is not installed. */
function accountOf(name: string) {
  const env = { PATH: process.env['PATH'], LC_ALL: 'C' }
  if (process.getuid?.() !== 0) return { env }
  const number = (flag: string): number => Number(spawnSync('id', [flag, name], { encoding: 'utf8' }).stdout)
  return { env, uid: number('-u'), gid: number('-g') }
}

/** Starts an empty PostgreSQL server, or with `of` a hot standby of another one. Anybody may log in as `postgres`. */
export async function startPostgres(
  folder: string,
  { host, port, of }: { host: string; port: number; of?: OwnServer },
): Promise<OwnServer> {
  const account = accountOf('postgres')
  makeFolder(folder, account)
  const program = (name: string): string => join(POSTGRES_PROGRAMS!, name)
  const from = of && [
    '-h',
    of.host,
    '-p',
    String(of.port),
    '-U',
    'postgres',
    '-R',
    '-c',
    'fast',
    '-D',
    folder,
  ]
  if (from) await execute(program('pg_basebackup'), from, account)
  else {
    await execute(program('initdb'), ['-D', folder, '-U', 'postgres', '-A', 'trust', '--no-sync'], account)
    writeFileSync(
      join(folder, 'pg_hba.conf'),
      'host all all samehost trust\nhost replication all samehost trust\n',
    )
  }
  const args = ['-D', folder, '-p', String(port), '-h', host, '-k', '', '-c', 'fsync=off']
  const server = spawn(program('postgres'), args, { ...account, stdio: 'ignore' })
  await untilAnswers(() => askPostgres({ host, port }, 'SELECT 1'))
  return { host, port, folder, stop: () => stopped(server, 'SIGQUIT') }
}

/** Programs of MariaDB that a server needs. */
export const MARIADB_PROGRAMS = ['mariadbd', 'mariadb-install-db']

/**
 * Starts an empty MariaDB server, or with `of` a read-only replica of another one. `root` and `app`, whose database is
 * `app`, have no password. `flags` are further options of the server.
 */
export async function startMariaDb(
  folder: string,
  { host, port, of, flags = [] }: { host: string; port: number; of?: OwnServer; flags?: readonly string[] },
): Promise<OwnServer> {
  const account = accountOf('mysql')
  // Servers delete the temporary files of others in a common folder when they start.
  const data = ['--no-defaults', `--datadir=${folder}`, `--tmpdir=${folder}`]
  const isNew = !existsSync(folder)
  if (isNew) makeFolder(folder, account)
  if (isNew)
    await execute('mariadb-install-db', [...data, '--auth-root-authentication-method=normal'], account)
  const id = of === undefined ? 1 : 2
  const network = [`--port=${port}`, `--bind-address=${host}`, `--socket=${join(folder, 'own.sock')}`]
  const replication = ['--log-bin=log', `--server-id=${id}`, `--read-only=${id - 1}`]
  const args = [...data, ...network, ...replication, '--skip-slave-start', ...flags]
  const server = spawn('mariadbd', args, { ...account, stdio: 'ignore' })
  await untilAnswers(() => askMariaDb({ host, port }, 'SELECT 1'))
  const follow = of && [
    `CHANGE MASTER TO MASTER_HOST='${of.host}', MASTER_PORT=${of.port}, MASTER_USER='root', MASTER_USE_GTID=slave_pos`,
    'START SLAVE',
  ]
  // The account is for a connection from this machine, whose name is resolved.
  const create = ['CREATE DATABASE app', 'CREATE USER app@localhost', 'GRANT ALL ON app.* TO app@localhost']
  if (isNew) for (const statement of follow ?? create) await askMariaDb({ host, port }, statement)
  return { host, port, folder, stop: () => stopped(server, 'SIGTERM') }
}

/** A proxy between an application and two servers, of which it uses one for new connections. */
export interface Switch {
  readonly host: string
  readonly port: number
  pointTo(server: 'a' | 'b'): Promise<void>
  stop(): Promise<void>
}

/** Starts HAProxy. Connections that exist stay where they lead. */
export async function startHaproxy(
  folder: string,
  { port, servers: [a, b] }: { port: number; servers: readonly [OwnServer, OwnServer] },
): Promise<Switch> {
  const admin = join(folder, 'haproxy.sock')
  const file = join(folder, 'haproxy.cfg')
  const lines = [
    'global',
    `  stats socket ${admin} level admin`,
    'defaults',
    '  mode tcp',
    '  timeout connect 2s',
    '  timeout client 1m',
    '  timeout server 1m',
    'listen database',
    `  bind 127.0.0.1:${port}`,
    `  server a ${a.host}:${a.port}`,
    `  server b ${b.host}:${b.port}`,
  ]
  writeFileSync(file, `${lines.join('\n')}\n`)
  const proxy = spawn('haproxy', ['-f', file], { stdio: 'ignore' })
  const tell = async (command: string): Promise<void> => {
    const socket = connect(admin)
    socket.end(`${command}\n`)
    await once(socket.resume(), 'close')
  }
  while (!existsSync(admin)) await wait(20)
  return {
    host: '127.0.0.1',
    port,
    async pointTo(server) {
      await tell(`set server database/${server} state ready`)
      await tell(`set server database/${server === 'a' ? 'b' : 'a'} state maint`)
    },
    stop: () => stopped(proxy, 'SIGKILL'),
  }
}

/** Runs a statement on a server as its administrator. */
export function askPostgres({ host, port }: Pick<OwnServer, 'host' | 'port'>, sql: string): Promise<unknown> {
  return runStatement({ type: 'postgres', host, port, username: 'postgres', database: 'postgres' }, sql)
}

/** The same on a server of MariaDB. */
export function askMariaDb({ host, port }: Pick<OwnServer, 'host' | 'port'>, sql: string): Promise<unknown> {
  return runStatement({ type: 'mysql', host, port, username: 'root', database: 'mysql' }, sql)
}

async function untilAnswers(ask: () => Promise<unknown>): Promise<void> {
  for (;;)
    try {
      return void (await ask())
    } catch {
      await wait(50)
    }
}

function makeFolder(folder: string, { uid, gid }: { readonly uid?: number; readonly gid?: number }): void {
  mkdirSync(folder, { mode: 0o700 })
  if (uid !== undefined && gid !== undefined) chownSync(folder, uid, gid)
}

async function stopped(server: ChildProcess, signal: NodeJS.Signals): Promise<void> {
  if (server.exitCode !== null || server.signalCode !== null) return
  const exit = once(server, 'exit')
  server.kill(signal)
  await exit
}
