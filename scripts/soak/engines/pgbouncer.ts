import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { freePort } from '../free-port.ts'
import { runProgram } from '../run-program.ts'
import { asUser, giveTo } from './as-user.ts'
import type { Engine } from './engine.ts'
import { startPostgres } from './postgres.ts'

/** Starts a PostgreSQL of its own behind PgBouncer in transaction mode. */
export function startPgbouncer(directory: string): Promise<Engine> {
  return startPostgres(directory, async (target) => {
    const port = await freePort()
    const folder = join(directory, 'pgbouncer')
    mkdirSync(folder)
    writeFileSync(join(folder, 'pgbouncer.ini'), configuration(port, target))
    giveTo('postgres', folder)
    const [program = '', ...args] = asUser('postgres', ['pgbouncer', join(folder, 'pgbouncer.ini')])
    const child = spawn(program, args, { stdio: 'ignore', cwd: '/' })
    const version = /[\d.]+/.exec(await runProgram(['pgbouncer', '--version']))
    return {
      title: `PgBouncer ${version?.[0]} in transaction mode`,
      port,
      async stop() {
        // runuser passes SIGTERM on; PgBouncer ends immediately.
        child.kill('SIGTERM')
        if (child.exitCode === null && child.signalCode === null) await once(child, 'exit')
      },
    }
  })
}

function configuration(port: number, target: number): string {
  return `[databases]
postgres = host=127.0.0.1 port=${target} user=postgres
[pgbouncer]
listen_addr = 127.0.0.1
listen_port = ${port}
unix_socket_dir =
auth_type = any
pool_mode = transaction
default_pool_size = 8
server_login_retry = 1
ignore_startup_parameters = extra_float_digits
`
}
