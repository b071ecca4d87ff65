import type { Socket } from 'node:net'
import { setTimeout as wait } from 'node:timers/promises'
import { expect } from 'chai'
import type { DataSource, MigrationInterface, QueryRunner } from 'typeorm'
import { createApp, routerFor } from 'mortar'
import {
  type ConnectionOptions,
  createDataSource,
  createMigrations,
  database,
  param,
  query,
} from '@mortar/database'
import { watchConnections } from '../../../plugins/database/connections/watch-connections.ts'
import { type ServerVariable, serverUrl } from '../../support/servers.ts'
import { KINDS } from './databases.ts'
import { type FaultyNetwork, faultyNetwork } from './faulty-network.ts'
import { Notes } from './notes.ts'

const CONNECTIONS = 10

/** The statements of one kind of server. */
interface Kind {
  readonly variable: ServerVariable
  /** Sleeps for a number of seconds. */
  readonly sleep: (seconds: number) => string
}

const SERVERS: Readonly<Record<string, Kind>> = {
  PostgreSQL: { variable: 'TEST_POSTGRES_URL', sleep: (seconds) => `SELECT pg_sleep(${seconds})` },
  MariaDB: { variable: 'TEST_MARIADB_URL', sleep: (seconds) => `SELECT SLEEP(${seconds})` },
}

for (const [name, { variable, sleep }] of Object.entries(SERVERS))
  describe(`connections to ${name} that go silent`, function () {
    const url = serverUrl(variable)
    const place = KINDS[name]!()
    let network: FaultyNetwork
    let dataSource: DataSource

    beforeEach(async () => {
      const { hostname, port } = new URL(url)
      network = await faultyNetwork({ host: hostname, port: Number(port) })
      dataSource = createDataSource({
        ...place().options([Notes]),
        port: network.port,
        poolSize: CONNECTIONS,
      } as ConnectionOptions)
    })
    afterEach(async () => {
      if (dataSource.isInitialized) await dataSource.destroy().catch(() => undefined)
      await network.close()
    })

    /** Opens all connections of the pool. */
    async function fill(): Promise<void> {
      if (!dataSource.isInitialized) await dataSource.initialize()
      // On a loaded machine, the first statement may be over before the last one begins, or a connection may open too late.
      while (openSockets(network.port).length < CONNECTIONS)
        await settle(Array.from({ length: CONNECTIONS }, () => dataSource.query(sleep(0.1))))
    }

    const ask = (): Promise<unknown> => dataSource.query('SELECT 1 AS one')
    const settle = (promises: Promise<unknown>[]) => Promise.allSettled(promises)

    it('answer again soon after the network does, with a statement lost on each of them', async () => {
      await fill()
      network.silence()
      const lost = settle(Array.from({ length: CONNECTIONS }, ask))
      const waiting = settle(Array.from({ length: 5 }, ask))
      await wait(1500)
      network.heal()
      const healed = performance.now()
      expect(await ask()).to.eql([{ one: 1 }])
      // Measured: 0.5 s. The drivers alone need 10 s or longer, or never answer.
      expect(performance.now() - healed).to.be.below(9000)
      for (const result of await lost)
        expect(result).to.have.nested.property('reason.driverError.name', 'SilentConnection')
      expect((await waiting).every(({ status }) => status === 'fulfilled')).to.equal(true)
    })

    it('lose no statement if they died while they were idle', async () => {
      await fill()
      network.silence()
      await wait(1200)
      network.heal()
      const answers = await settle(Array.from({ length: 2 * CONNECTIONS }, ask))
      expect(answers.every(({ status }) => status === 'fulfilled')).to.equal(true)
    })

    it('gain no listener with each check of an idle connection', async () => {
      await dataSource.initialize()
      const listeners = () => openSockets(network.port).map((socket) => socket.listenerCount('close'))
      await ask()
      const before = listeners()
      for (let time = 0; time < 2; time++) {
        await wait(1100)
        await ask()
      }
      expect(listeners()).to.eql(before)
    })

    it('do not keep a process alive that closes its pool', async () => {
      await fill()
      expect(openSockets(network.port).length).to.be.at.least(CONNECTIONS)
      network.silence()
      await dataSource.destroy()
      // Without a response of the server, they would stay open for ever.
      for (let waits = 0; openSockets(network.port).length > 0 && waits < 600; waits++) await wait(50)
      expect(openSockets(network.port).length).to.equal(0)
    })

    it('roll back a transaction, whose caller gets an error, also for a statement that was queued', async () => {
      await fill()
      const begun = dataSource.createQueryRunner()
      await begun.startTransaction()
      const first = begun.query('SELECT 1')
      const failed = begun.query('SELECT 2').catch((error: unknown) => error)
      await first
      network.silence()
      network.heal()
      expect(await Promise.race([failed, wait(20_000, undefined, { ref: false })])).to.have.nested.property(
        'driverError.name',
        'SilentConnection',
      )
      await begun.rollbackTransaction().catch(() => undefined)
      await begun.release()
      expect(await ask()).to.eql([{ one: 1 }])
    })

    it('end a migration, and the lock of its run with it', async () => {
      class Cut1000000000001 implements MigrationInterface {
        async up(runner: QueryRunner): Promise<void> {
          network.silence()
          await runner.query('SELECT 1')
        }
        async down(): Promise<void> {}
      }
      await dataSource.initialize()
      watchConnections(dataSource, { silence: 2 })
      const running = createMigrations(dataSource, { directory: [Cut1000000000001] }).run()
      const error = await Promise.race([
        running.catch((reason: unknown) => reason),
        wait(30_000, 'It waits for the lock.', { ref: false }),
      ])
      // The server would keep the locks of the lost sessions, for which the end of the test would wait.
      await network.close()
      expect(error).to.have.property('code', 'MORTAR_MIGRATION_FAILED')
    })

    it('are replaced for a compiled query as well', async () => {
      await dataSource.initialize()
      await dataSource.synchronize()
      // Last, as a connection that was not used for a second is checked first, and then loses no statement.
      await fill()
      const find = query(Notes, { where: { id: param('id') } })
      network.silence()
      const lost = settle(Array.from({ length: CONNECTIONS }, () => find.all(dataSource, { id: 'a' })))
      network.heal()
      expect(await find.all(dataSource, { id: 'a' })).to.eql([])
      expect((await lost).every(({ status }) => status === 'rejected')).to.equal(true)
    })

    it('stay while the server works on their statement, however long that takes', async () => {
      const app = createApp({ environment: 'test', logger: false }).use(
        database(dataSource, { silence: '3s' }),
      )
      await app.ready()
      const before = performance.now()
      await Promise.all([dataSource.query(sleep(4.5)), dataSource.query(sleep(4.5))])
      expect(performance.now() - before).to.be.at.least(4400)
      // Each question to the server about them had a connection of its own.
      for (let waits = 0; openSockets(network.port).length > 2 && waits < 1000; waits++) await wait(50)
      expect(openSockets(network.port).length).to.equal(2)
      await app.close()
    })

    it('stay in a transaction in which the application does something else', async () => {
      await fill()
      const opened = network.opened()
      await dataSource.transaction(async (manager) => {
        await manager.query('SELECT 1')
        await wait(2500)
        expect(await manager.query('SELECT 1 AS one')).to.eql([{ one: 1 }])
      })
      expect(network.opened()).to.equal(opened)
    })

    it('answer 503 with Retry-After while the database cannot be reached, and 200 soon after', async () => {
      const app = createApp({ environment: 'production', logger: false }).use(
        database(dataSource, { poolTimeout: '1s', silence: '2s' }),
      )
      const router = routerFor<typeof app>()
      router.get('/one', (ctx) => ctx.db.query('SELECT 1 AS one'))
      app.use(router)
      await app.ready()
      await fill()
      network.silence()
      const get = () => app.inject({ method: 'GET', url: '/one' })
      const responses = await Promise.all(Array.from({ length: 2 * CONNECTIONS }, get))
      for (const { statusCode, headers, json } of responses) {
        expect(statusCode).to.equal(503)
        expect(headers['retry-after']).to.match(/^[12]$/)
        expect(json().code).to.match(/^database_(busy|unavailable)$/)
      }
      network.heal()
      let last = await get()
      for (let attempt = 0; last.statusCode !== 200 && attempt < 10; attempt++) last = await get()
      expect(last.json()).to.eql([{ one: 1 }])
      network.cut()
      last = await get()
      for (let attempt = 0; last.statusCode === 503 && attempt < CONNECTIONS; attempt++) last = await get()
      expect(last.statusCode).to.equal(200)
      await app.close()
    })
  })

/** The sockets to a port that keep this process alive. */
function openSockets(port: number): Socket[] {
  const { _getActiveHandles: handles } = process as unknown as { _getActiveHandles(): Socket[] }
  return handles.call(process).filter(({ remotePort }) => remotePort === port)
}
