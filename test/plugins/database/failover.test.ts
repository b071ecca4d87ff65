import { spawnSync } from 'node:child_process'
import dns from 'node:dns'
import { chmodSync } from 'node:fs'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as wait } from 'node:timers/promises'
import { expect } from 'chai'
import { DataSource } from 'typeorm'
import { createApp, routerFor, type RunHealthCheck, type StartupError } from 'mortar'
import {
  type ConnectionOptions,
  type DatabaseSettings,
  createDataSource,
  database,
  openDataSource,
} from '@mortar/database'
import { sideConnections } from '../../../plugins/database/connections/side-connections.ts'
import { noticingReadOnly } from '../../../plugins/database/connections/read-only.ts'
import { freePort } from '../../support/free-port.ts'
import { skipSuite } from '../../support/servers.ts'
import {
  askMariaDb,
  askPostgres,
  MARIADB_PROGRAMS,
  type OwnServer,
  POSTGRES_PROGRAMS,
  startHaproxy,
  startMariaDb,
  startPostgres,
  type Switch,
} from './own-servers.ts'

const TABLES = {
  postgres: 'CREATE TABLE written (id integer)',
  mysql: 'CREATE TABLE app.written (id integer)',
}
const WRITE = 'INSERT INTO written VALUES (1)'

/** Makes a folder for servers, which run as users of their own. */
async function ownFolder(): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), 'mortar-failover-'))
  chmodSync(folder, 0o755)
  return folder
}
const isMissing = (program: string): boolean => spawnSync('which', [program]).status !== 0

/** An application whose probes of readiness ask the server each time, so that no test waits for an older result. */
function makeApp(options: ConnectionOptions, settings: DatabaseSettings = {}) {
  const brick = database(createDataSource(options), settings)
  const { db } = brick.checks as { readonly db: RunHealthCheck }
  const app = createApp({ environment: 'production', logger: false, health: { critical: ['db'] } }).use({
    ...brick,
    checks: { db: { run: db, cache: 0 } },
  })
  const router = routerFor<typeof app>()
  router.get('/read', (ctx) => ctx.db.query('SELECT 1'))
  router.post('/write', async (ctx) => void (await ctx.db.query(WRITE)))
  router.post('/write-in-transaction', async (ctx) => {
    await ctx.db.transaction(async (manager) => void (await manager.query(WRITE)))
  })
  router.post('/own', async (ctx) => {
    await ctx.db.transaction(async (manager) => {
      await manager.query('SET TRANSACTION READ ONLY')
      await manager.query(WRITE)
    })
  })
  return app.use(router)
}
type TestApp = ReturnType<typeof makeApp>

/** Status, code and `Retry-After` of a response. */
async function asked(app: TestApp, method: 'GET' | 'POST', url: string): Promise<unknown[]> {
  const { statusCode, headers, body } = await app.inject({ method, url })
  return [statusCode, statusCode >= 400 ? JSON.parse(body).code : undefined, headers['retry-after']]
}
const statusOf = async (app: TestApp, method: 'GET' | 'POST', url: string) =>
  (await asked(app, method, url))[0]
/** The different statuses of eight requests at a time, more than the pool has connections. */
const statuses = async (app: TestApp, method: 'GET' | 'POST', url: string) => [
  ...new Set(await Promise.all(Array.from({ length: 8 }, () => statusOf(app, method, url)))),
]

const UNAVAILABLE = [503, 'database_unavailable', '2']

/** Asks until a response has this status, which a failover may delay. */
async function until(app: TestApp, method: 'GET' | 'POST', url: string, status: number): Promise<void> {
  while ((await statusOf(app, method, url)) !== status) await wait(50)
}

/** Tests an application whose server accepts no writes after `refuse(true)`. */
function testReadOnly(
  start: () => Promise<{ app: TestApp; refuse: (on: boolean) => Promise<unknown> }>,
): void {
  it('is 503 for writes and readiness, serves reads, and writes again over new connections', async () => {
    const { app, refuse } = await start()
    expect(await statuses(app, 'POST', '/write')).to.deep.equal([204])
    expect(await statusOf(app, 'GET', '/readyz')).to.equal(200)
    await refuse(true)
    await until(app, 'POST', '/write', 503)
    expect(await asked(app, 'POST', '/write')).to.deep.equal(UNAVAILABLE)
    expect(await asked(app, 'POST', '/write-in-transaction')).to.deep.equal(UNAVAILABLE)
    // A read can still meet a connection that the failover has closed, which is 503 once.
    while ((await statuses(app, 'GET', '/read')).includes(503)) await wait(50)
    expect(await statuses(app, 'GET', '/read')).to.deep.equal([200])
    await until(app, 'GET', '/readyz', 503)
    // Only a probe comes while a load balancer sends no requests.
    await refuse(false)
    await until(app, 'GET', '/readyz', 200)
    await until(app, 'POST', '/write', 204)
    expect(await statuses(app, 'POST', '/write')).to.deep.equal([204])
  })
}

interface Kind {
  readonly missing: string | undefined
  readonly options: {
    readonly type: 'postgres' | 'mysql'
    readonly username: string
    readonly database: string
  }
  start(folder: string, place: { host: string; port: number; of?: OwnServer }): Promise<OwnServer>
  /** Runs a statement in the database of the application as an administrator. */
  ask(server: OwnServer, sql: string): Promise<unknown>
  /** Statement that ends the connections of applications. */
  readonly end: string
  /** Statements that make the standby a primary. */
  readonly promote: readonly string[]
}

const kinds: Readonly<Record<string, Kind>> = {
  PostgreSQL: {
    missing: POSTGRES_PROGRAMS === undefined ? 'the programs of a PostgreSQL server' : undefined,
    options: { type: 'postgres', username: 'postgres', database: 'postgres' },
    start: startPostgres,
    ask: askPostgres,
    end: "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE backend_type = 'client backend' AND pid <> pg_backend_pid()",
    promote: ['SELECT pg_promote()'],
  },
  MariaDB: {
    missing: MARIADB_PROGRAMS.find(isMissing),
    options: { type: 'mysql', username: 'app', database: 'app' },
    start: startMariaDb,
    ask: askMariaDb,
    end: 'KILL HARD USER app',
    promote: ['STOP SLAVE', 'SET GLOBAL read_only = 0'],
  },
}
const ways: Readonly<Record<string, string | undefined>> = {
  HAProxy: isMissing('haproxy') ? 'haproxy' : undefined,
  'a name that is resolved again': process.platform === 'linux' ? undefined : 'the address 127.0.0.2',
}
for (const [name, kind] of Object.entries(kinds))
  for (const [way, missingForWay] of Object.entries(ways))
    describe(`an application whose ${name} fails over, through ${way}`, function () {
      const missing = kind.missing ?? missingForWay
      if (missing !== undefined) skipSuite(`needs ${missing}`)
      const running: { stop(): Promise<void> }[] = []
      const lookup = dns.lookup
      let folder: string
      let servers: readonly [a: OwnServer, b: OwnServer]
      let route: Switch
      let app: TestApp

      before(async () => {
        folder = await ownFolder()
        const port = await freePort()
        const a = await kind.start(join(folder, 'a'), { host: '127.0.0.1', port })
        running.push(a)
        await kind.ask(a, TABLES[kind.options.type])
        const b = await kind.start(join(folder, 'b'), { host: '127.0.0.2', port, of: a })
        running.push(b)
        servers = [a, b]
        route =
          way === 'HAProxy' ? await startHaproxy(folder, { port: await freePort(), servers }) : byName(port)
        running.push(route)
        await route.pointTo('a')
        app = makeApp({ ...kind.options, host: route.host, port: route.port, poolSize: 4 })
        await app.ready()
      })
      after(async () => {
        await app?.close()
        for (const server of running.toReversed()) await server.stop()
        await rm(folder, { recursive: true, force: true })
      })

      /** `db.test` is the address of the server in use. */
      function byName(port: number): Switch {
        let address = '127.0.0.1'
        Object.assign(dns, {
          lookup: (host: string, ...rest: [never, never]) =>
            lookup(host === 'db.test' ? address : host, ...rest),
        })
        return {
          host: 'db.test',
          port,
          pointTo: async (server) => void (address = server === 'a' ? '127.0.0.1' : '127.0.0.2'),
          stop: async () => void Object.assign(dns, { lookup }),
        }
      }

      /** New connections lead to the server. Those of the other one end with it, or stay. */
      async function failOver(to: 'a' | 'b', old: 'ends connections' | 'keeps connections'): Promise<void> {
        await route.pointTo(to)
        if (old === 'ends connections') await kind.ask(servers[to === 'a' ? 1 : 0], kind.end)
      }

      testReadOnly(async () => ({
        app,
        refuse: (on) => (on ? failOver('b', 'ends connections') : failOver('a', 'keeps connections')),
      }))

      it('writes to a standby that is promoted', async () => {
        await failOver('b', 'ends connections')
        await until(app, 'POST', '/write', 503)
        for (const statement of kind.promote) await kind.ask(servers[1], statement)
        await until(app, 'POST', '/write', 204)
        expect(await statuses(app, 'POST', '/write')).to.deep.equal([204])
        await until(app, 'GET', '/readyz', 200)
      })
    })

describe('an application whose PostgreSQL accepts writes', function () {
  if (POSTGRES_PROGRAMS === undefined) skipSuite('the programs of a PostgreSQL server are not installed')
  let folder: string
  let server: OwnServer
  before(async () => {
    folder = await ownFolder()
    server = await startPostgres(join(folder, 'a'), { host: '127.0.0.1', port: await freePort() })
    await askPostgres(server, TABLES.postgres)
  })
  after(async () => {
    await server?.stop()
    await rm(folder, { recursive: true, force: true })
  })
  const options = () =>
    ({
      type: 'postgres',
      host: server.host,
      port: server.port,
      username: 'postgres',
      database: 'postgres',
    }) as const

  it('is 500 for a write in a read-only transaction of its own, and keeps the connection', async () => {
    const app = makeApp({ ...options(), poolSize: 1 })
    await app.ready()
    const session = async () => (await app.services.db.query('SELECT pg_backend_pid() AS id'))[0].id as number
    const first = await session()
    expect(await asked(app, 'POST', '/own')).to.deep.equal([500, 'internal_error', undefined])
    expect(await session()).to.equal(first)
    await app.close()
  })

  it('is 503 from the first write on when the server begins to refuse them on open connections', async () => {
    const app = makeApp({ ...options(), poolSize: 1 })
    await app.ready()
    expect(await statusOf(app, 'POST', '/write')).to.equal(204)
    const refuse = async (value: 'on' | 'off'): Promise<void> => {
      await askPostgres(server, `ALTER SYSTEM SET default_transaction_read_only = ${value}`)
      await askPostgres(server, 'SELECT pg_reload_conf()')
      // The server tells its open sessions before it begins another one.
      const shown = JSON.stringify([{ default_transaction_read_only: value }])
      while (JSON.stringify(await askPostgres(server, 'SHOW default_transaction_read_only')) !== shown)
        await wait(20)
    }
    await refuse('on')
    expect(await asked(app, 'POST', '/write')).to.deep.equal(UNAVAILABLE)
    await refuse('off')
    await until(app, 'POST', '/write', 204)
    await app.close()
  })

  it('is ready on a server that accepts none, if it only reads', async () => {
    await askPostgres(server, 'ALTER DATABASE postgres SET default_transaction_read_only = on')
    const app = makeApp(options(), { readOnly: true })
    await app.ready()
    expect([await statusOf(app, 'GET', '/readyz'), await statusOf(app, 'GET', '/read')]).to.deep.equal([
      200, 200,
    ])
    expect(await asked(app, 'POST', '/write')).to.deep.equal(UNAVAILABLE)
    await app.close()
  })
})

describe('the callback of a statement of MariaDB', () => {
  for (const [form, ...given] of [
    ['text', 'SELECT 1'],
    ['text and values', 'SELECT ?', [1]],
    ['options', { sql: 'SELECT ?', values: [1] }],
    ['options and values', { sql: 'SELECT ?' }, [1]],
  ] as const)
    it(`gets every result, and its connection is put away if the server accepts no writes: ${form}`, () => {
      for (const error of [null, { errno: 1062 }, { errno: 1290, message: '--read-only' }, { errno: 1836 }]) {
        const told: unknown[] = []
        const args = noticingReadOnly(
          [...given, (...results: unknown[]) => told.push(results)],
          () => told.push('read-only'),
          () => told.push('end'),
        )
        expect(args.slice(0, -1)).to.deep.equal(given)
        ;(args.at(-1) as (...results: unknown[]) => void)(error, ['row'])
        const isReadOnly = error !== null && error.errno !== 1062
        expect(told).to.deep.equal(['end', ...(isReadOnly ? ['read-only'] : []), [error, ['row']]])
      }
    })
})

describe('an application whose MariaDB gets other settings', function () {
  const missing = MARIADB_PROGRAMS.find(isMissing)
  if (missing !== undefined) skipSuite(`needs ${missing}`)
  let folder: string
  let place: { host: string; port: number }
  let server: OwnServer
  let app: TestApp
  before(async () => {
    folder = await ownFolder()
    place = { host: '127.0.0.1', port: await freePort() }
    server = await startMariaDb(join(folder, 'a'), place)
    await askMariaDb(server, TABLES.mysql)
    app = makeApp({ ...place, type: 'mysql', username: 'app', database: 'app', poolSize: 4 })
    await app.ready()
  })
  after(async () => {
    await app?.close()
    await server?.stop()
    await rm(folder, { recursive: true, force: true })
  })

  testReadOnly(async () => ({
    app,
    refuse: (on) => askMariaDb(server, `SET GLOBAL read_only = ${on ? 1 : 0}`),
  }))

  it('keeps values apart from statements where a backslash escapes nothing', async () => {
    await askMariaDb(server, "SET GLOBAL sql_mode = 'NO_BACKSLASH_ESCAPES,STRICT_TRANS_TABLES'")
    const source = createDataSource({ ...place, type: 'mysql', username: 'app', database: 'app' })
    const account = { ...place, username: 'app', database: 'app' }
    const replicated = createDataSource({
      type: 'mysql',
      replication: { master: account, slaves: [account] },
    })
    await openDataSource(source)
    await openDataSource(replicated)
    const beside = sideConnections.open(source)!
    const text = "\\' OR 1 = 1 -- \n"
    const sql = 'SELECT ? AS text, @@sql_mode AS mode'
    const rows = [
      ...(await source.query<object[]>(sql, [text])),
      ...(await beside.query(sql, [text])).records,
    ]
    for (const mode of ['master', 'slave'] as const) {
      const runner = replicated.createQueryRunner(mode)
      rows.push(...((await runner.query(sql, [text])) as object[]))
      await runner.release()
    }
    beside.close()
    const early = await new DataSource({
      ...place,
      type: 'mysql',
      username: 'app',
      database: 'app',
    }).initialize()
    const refusal = await openDataSource(early).catch(({ code }: StartupError) => code)
    for (const each of [source, replicated, early]) await each.destroy()
    await askMariaDb(server, 'SET GLOBAL sql_mode = DEFAULT')
    expect(refusal).to.equal('MORTAR_DATABASE_ESCAPES')
    for (const row of rows as { text: string; mode: string }[]) {
      expect(row.text).to.equal(text)
      expect(row.mode).to.contain('STRICT_TRANS_TABLES').and.not.contain('NO_BACKSLASH_ESCAPES')
    }
    expect(rows).to.have.lengthOf(4)
  })

  it('is 503 while InnoDB accepts no writes', async () => {
    await server.stop()
    server = await startMariaDb(join(folder, 'a'), { ...place, flags: ['--innodb-read-only'] })
    await until(app, 'GET', '/read', 200)
    expect(await asked(app, 'POST', '/write')).to.deep.equal(UNAVAILABLE)
    await until(app, 'GET', '/readyz', 503)
  })
})
