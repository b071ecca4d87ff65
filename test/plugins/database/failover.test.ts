import { spawnSync } from 'node:child_process'
import dns from 'node:dns'
import { chmodSync } from 'node:fs'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as wait } from 'node:timers/promises'
import { expect } from 'chai'
import { createApp, routerFor } from 'mortar'
import { type ConnectionOptions, type DatabaseSettings, createDataSource, database } from '@mortar/database'
import { freePort } from '../../support/free-port.ts'
import { skipSuite } from '../../support/servers.ts'
import {
  askPostgres,
  type OwnServer,
  POSTGRES_PROGRAMS,
  startHaproxy,
  startMariaDb,
  startPostgres,
  type Switch,
} from './own-servers.ts'

const TABLE = 'CREATE TABLE written (id integer)'
const WRITE = 'INSERT INTO written VALUES (1)'
const isMissing = (program: string): boolean => spawnSync(program, ['-v']).error !== undefined

function makeApp(options: ConnectionOptions, settings: DatabaseSettings = {}) {
  const app = createApp({ environment: 'production', logger: false, health: { critical: ['db'] } }).use(
    database(createDataSource(options), settings),
  )
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
function testReadOnly(start: () => Promise<{ app: TestApp; refuse: (on: boolean) => Promise<void> }>): void {
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

const ways: Readonly<Record<string, string | undefined>> = {
  HAProxy: isMissing('haproxy') ? 'haproxy is not installed' : undefined,
  'a name that is resolved again': process.platform === 'linux' ? undefined : 'needs the address 127.0.0.2',
}
for (const [way, missing] of Object.entries(ways))
  describe(`an application whose PostgreSQL fails over, through ${way}`, function () {
    if (POSTGRES_PROGRAMS === undefined) skipSuite('the programs of a PostgreSQL server are not installed')
    else if (missing !== undefined) skipSuite(missing)
    const running: { stop(): Promise<void> }[] = []
    const lookup = dns.lookup
    let folder: string
    let servers: readonly [a: OwnServer, b: OwnServer]
    let route: Switch
    let app: TestApp

    before(async () => {
      folder = await mkdtemp(join(tmpdir(), 'mortar-failover-'))
      chmodSync(folder, 0o755)
      const port = await freePort()
      const a = await startPostgres(join(folder, 'a'), { host: '127.0.0.1', port })
      running.push(a)
      await askPostgres(a, TABLE)
      const b = await startPostgres(join(folder, 'b'), { host: '127.0.0.2', port, of: a })
      running.push(b)
      servers = [a, b]
      route =
        way === 'HAProxy' ? await startHaproxy(folder, { port: await freePort(), servers }) : byName(port)
      running.push(route)
      await route.pointTo('a')
      app = makeApp({
        type: 'postgres',
        host: route.host,
        port: route.port,
        username: 'postgres',
        database: 'postgres',
        poolSize: 4,
      })
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
        lookup: (name: string, ...rest: [never, never]) =>
          lookup(name === 'db.test' ? address : name, ...rest),
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
      if (old === 'ends connections')
        await askPostgres(
          servers[to === 'a' ? 1 : 0],
          "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE backend_type = 'client backend' AND pid <> pg_backend_pid()",
        )
    }

    testReadOnly(async () => ({
      app,
      refuse: (on) => (on ? failOver('b', 'ends connections') : failOver('a', 'keeps connections')),
    }))

    it('writes to a standby that is promoted', async () => {
      await failOver('b', 'ends connections')
      await until(app, 'POST', '/write', 503)
      await askPostgres(servers[1], 'SELECT pg_promote()')
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
    folder = await mkdtemp(join(tmpdir(), 'mortar-failover-'))
    chmodSync(folder, 0o755)
    server = await startPostgres(join(folder, 'a'), { host: '127.0.0.1', port: await freePort() })
    await askPostgres(server, TABLE)
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

describe('an application whose MariaDB becomes read-only', function () {
  if (isMissing('mariadbd') || isMissing('mariadb-install-db')) skipSuite('mariadbd is not installed')
  let folder: string
  let server: OwnServer
  let app: TestApp
  before(async () => {
    folder = await mkdtemp(join(tmpdir(), 'mortar-failover-'))
    chmodSync(folder, 0o755)
    server = await startMariaDb(join(folder, 'a'), await freePort())
    const { host, port } = server
    const options = { type: 'mysql', host, port, username: 'app', database: 'app', poolSize: 4 } as const
    app = makeApp(options)
    for (let isOpen = false; !isOpen; await wait(50)) {
      const source = createDataSource(options)
      isOpen = await source.initialize().then(
        () => true,
        () => false,
      )
      if (isOpen) await source.query(TABLE)
      if (isOpen) await source.destroy()
    }
    await app.ready()
  })
  after(async () => {
    await app?.close()
    await server?.stop()
    await rm(folder, { recursive: true, force: true })
  })

  testReadOnly(async () => {
    const { host, port } = server
    return {
      app,
      async refuse(on) {
        const root = createDataSource({ type: 'mysql', host, port, username: 'root', database: 'app' })
        await root.initialize()
        await root.query(`SET GLOBAL read_only = ${on ? 1 : 0}`)
        await root.destroy()
      },
    }
  })
})
