import { type ChildProcess, spawn, spawnSync } from 'node:child_process'
import { chmodSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as wait } from 'node:timers/promises'
import { expect } from 'chai'
import type { DataSource, QueryRunner } from 'typeorm'
import { type ConnectionOptions, createDataSource, createMigrations, fromUrl } from '@mortar/database'
import { freePort } from '../../support/free-port.ts'
import { serverUrl, skipSuite } from '../../support/servers.ts'
import { temporaryFolder } from './notes.ts'

const MIGRATIONS = 20

describe('PostgreSQL behind PgBouncer in transaction mode', function () {
  const url = serverUrl('TEST_POSTGRES_URL')
  if (spawnSync('pgbouncer', ['--version']).status !== 0) skipSuite('pgbouncer is not installed')
  const folder = temporaryFolder()
  let pooler: ChildProcess
  let direct: DataSource
  const opened: DataSource[] = []
  const name = `mortar_pooler_${process.pid}`
  let port = 0

  before(async () => {
    port = await freePort()
    direct = await createDataSource(fromUrl(url)).initialize()
    await direct.query(`CREATE DATABASE ${name}`)
    pooler = startPooler()
    await untilItAnswers()
  })
  afterEach(async () => {
    for (const source of opened.splice(0)) await source.destroy()
  })
  after(async () => {
    pooler.kill()
    await direct.query(`DROP DATABASE ${name} WITH (FORCE)`)
    await direct.destroy()
  })

  function startPooler(): ChildProcess {
    const { hostname, port: target, username, password } = new URL(url)
    const users = join(folder(), 'users.txt')
    const file = join(folder(), 'pgbouncer.ini')
    writeFileSync(users, `"${username}" "${password}"\n`)
    const settings = [
      '[databases]',
      `${name} = host=${hostname} port=${target} dbname=${name}`,
      '[pgbouncer]',
      'listen_addr = 127.0.0.1',
      `listen_port = ${port}`,
      'unix_socket_dir =',
      'auth_type = trust',
      `auth_file = ${users}`,
      'pool_mode = transaction',
      'default_pool_size = 6',
      'ignore_startup_parameters = extra_float_digits,statement_timeout',
    ]
    writeFileSync(file, `${settings.join('\n')}\n`)
    for (const path of [users, file]) chmodSync(path, 0o644)
    chmodSync(folder(), 0o755)
    // PgBouncer refuses to run as root.
    const asUser = process.getuid?.() === 0 ? ['-u', 'nobody'] : []
    return spawn('pgbouncer', [...asUser, file], { stdio: 'ignore' })
  }

  async function open(): Promise<DataSource> {
    const { username, password } = new URL(url)
    const options = { type: 'postgres', host: '127.0.0.1', port, database: name, username, password }
    const source = await createDataSource(options as ConnectionOptions).initialize()
    opened.push(source)
    return source
  }

  async function untilItAnswers(): Promise<void> {
    for (let attempt = 0; ; attempt++)
      try {
        await open()
        return
      } catch (error) {
        if (attempt === 100) throw error
        await wait(100)
      }
  }

  it('runs each migration once in two processes, beside other clients, and leaves no lock', async () => {
    const [one, two, other] = [await open(), await open(), await open()]
    const traffic = { runs: true }
    const busy = Promise.all(
      Array.from({ length: 4 }, async () => {
        while (traffic.runs) await other.query('SELECT pg_sleep(0.001)')
      }),
    )
    const ran = await Promise.all(
      [one, two].map((source) => createMigrations(source, { directory: steps() }).run()),
    )
    traffic.runs = false
    await busy
    expect(ran.flat()).to.have.length(MIGRATIONS)
    const locks: { count: string }[] = await direct.query(
      `SELECT count(*) FROM pg_locks JOIN pg_database ON pg_database.oid = database
       WHERE locktype = 'advisory' AND datname = $1`,
      [name],
    )
    expect(locks).to.eql([{ count: '0' }])
    expect(await one.query('SHOW lock_timeout')).to.eql([{ lock_timeout: '0' }])
  })

  it('keeps a long statement, whose session the server does not show', async () => {
    const source = await open()
    expect(await source.query('SELECT 1 AS one FROM pg_sleep(3)')).to.eql([{ one: 1 }])
  })
})

function steps() {
  return Array.from(
    { length: MIGRATIONS },
    (_, index) =>
      class {
        readonly name = `Step${1_000_000_000_000 + index}`
        async up(runner: QueryRunner): Promise<void> {
          await runner.query(`CREATE TABLE step_${index} (a integer)`)
        }
        async down(): Promise<void> {}
      },
  )
}
