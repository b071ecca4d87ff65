import { randomBytes } from 'node:crypto'
import { setTimeout as wait } from 'node:timers/promises'
import { expect } from 'chai'
import type { DataSource, QueryRunner } from 'typeorm'
import { createApp, routerFor } from 'mortar'
import { auth } from '@mortar/auth'
import { basicAuth } from '@mortar/auth/basic'
import * as authSchema from '@mortar/auth/basic/schema'
import { type ConnectionOptions, createDataSource, database } from '@mortar/database'
import { serverUrl } from '../../support/servers.ts'
import { KINDS } from './databases.ts'
import { type FaultyNetwork, faultyNetwork } from './faulty-network.ts'

const SERVERS = {
  PostgreSQL: {
    variable: 'TEST_POSTGRES_URL',
    sleep: 'SELECT pg_sleep(20)',
    lock: (table: string) => ['BEGIN', `LOCK TABLE ${table}`],
    unlock: 'ROLLBACK',
    waiting: (table: string) =>
      `SELECT 1 FROM pg_locks WHERE NOT granted AND relation = '${table}'::regclass`,
  },
  MariaDB: {
    variable: 'TEST_MARIADB_URL',
    sleep: 'SELECT SLEEP(20)',
    lock: (table: string) => [`LOCK TABLES ${table} WRITE`],
    unlock: 'UNLOCK TABLES',
    waiting: () =>
      "SELECT 1 FROM information_schema.processlist WHERE db = DATABASE() AND state LIKE 'Waiting for table%'",
  },
} as const

for (const [name, { variable, sleep, lock, unlock, waiting }] of Object.entries(SERVERS))
  describe(`an application whose ${name} is away`, function () {
    const url = serverUrl(variable)
    const place = KINDS[name]!()
    let network: FaultyNetwork
    let source: DataSource
    let isClosed = false

    beforeEach(async () => {
      const { hostname, port } = new URL(url)
      network = await faultyNetwork({ host: hostname, port: Number(port) })
      isClosed = false
      source = createDataSource({
        ...place().options([authSchema]),
        port: network.port,
        poolSize: 2,
      } as ConnectionOptions)
    })
    afterEach(async () => {
      if (!isClosed) await network.close()
    })

    async function startApp(settings: object) {
      const lines: unknown[] = []
      const write = (...line: unknown[]) => void lines.push(...line)
      const logger = { debug: write, info: write, warn: write, error: write, child: () => logger }
      const app = createApp({
        environment: 'production',
        logger,
        logRequests: false,
        appUrl: 'https://a.example',
      })
        .use(database(source, settings))
        .use(
          auth(
            basicAuth({
              db: source,
              secret: randomBytes(32).toString('base64url'),
              limits: false,
              freshSession: true,
              sendResetEmail: () => {},
            }),
          ),
        )
      const router = routerFor<typeof app>()
      router.get('/slow', (ctx) => ctx.db.query(sleep))
      router.get('/pause', (ctx) =>
        ctx.db.transaction(async (manager) => {
          await manager.query('SELECT 1')
          network.cut()
          // The server's end of the connection arrives between two statements.
          await wait(100)
          await manager.query('SELECT 2')
        }),
      )
      router.get('/me', { auth: true }, (ctx) => ({ id: ctx.user.id }))
      app.use(router)
      await app.ready()
      return { app, lines }
    }

    it('answers 503 in handlers, in the endpoints of auth and where a session is checked', async () => {
      const { app, lines } = await startApp({ poolTimeout: '2s' })
      await source.synchronize()
      const account = { name: 'Ada', email: 'ada@example.com', password: 'a fairly long passphrase 1' }
      const signedUp = await app.inject({ method: 'POST', url: '/auth/signup', payload: account })
      expect(signedUp.statusCode).to.equal(201)
      const headers = { authorization: `Bearer ${signedUp.json().accessToken}` }
      const cookie = String(signedUp.headers['set-cookie']).split(';')[0]!
      await network.close()
      isClosed = true
      const { email, password } = account
      for (const request of [
        { method: 'GET', url: '/slow' },
        { method: 'POST', url: '/auth/login', payload: { email, password } },
        { method: 'POST', url: '/auth/forgot-password', payload: { email } },
        { method: 'POST', url: '/auth/refresh', headers: { cookie } },
        { method: 'POST', url: '/auth/logout', headers: { cookie } },
        { method: 'GET', url: '/me', headers },
      ] as const) {
        const response = await app.inject(request)
        const { code } = response.json()
        expect([request.url, response.statusCode]).to.eql([request.url, 503])
        // A second after the last reading of the ended sessions, the session is not known before its row is read.
        const codes = ['database_unavailable', ...(request.url === '/me' ? ['session_state_unknown'] : [])]
        expect(code, request.url).to.be.oneOf(codes)
        expect(response.headers['retry-after']).to.match(/^\d+$/)
        expect(response.body).to.not.match(/127\.0\.0\.1|ECONN/)
      }
      expect(JSON.stringify(lines)).to.match(/ECONN|Connection|closed/)
      await app.close()
    })

    it('answers 503 for a transaction whose connection was lost between two statements', async () => {
      const { app } = await startApp({})
      const response = await app.inject({ method: 'GET', url: '/pause' })
      expect([response.statusCode, response.json().code]).to.eql([503, 'database_unavailable'])
      expect(response.headers['retry-after']).to.equal('2')
      await app.close()
    })

    it('answers 503 in the endpoints of auth for a statement whose connection is lost', async () => {
      const { app } = await startApp({})
      await source.synchronize()
      const direct = (await place().open()).createQueryRunner()
      const { schema } = source.options as { schema?: string }
      const table = schema === undefined ? 'auth_users' : `${schema}.auth_users`
      for (const statement of lock(table)) await direct.query(statement)
      const payload = { email: 'ada@example.com', password: 'a fairly long passphrase 1' }
      const login = Promise.resolve(app.inject({ method: 'POST', url: '/auth/login', payload }))
      while ((await direct.query(waiting(table))).length === 0) await wait(20)
      network.cut()
      const response = await login
      await direct.query(unlock)
      await direct.release()
      expect([response.statusCode, response.json().code]).to.eql([503, 'database_unavailable'])
      expect(response.headers['retry-after']).to.equal('2')
      await app.close()
    })

    it('answers 503 for a statement that takes too long', async () => {
      const { app } = await startApp({ statementTimeout: '2s' })
      const response = await app.inject({ method: 'GET', url: '/slow' })
      expect([response.statusCode, response.json().code]).to.eql([503, 'database_busy'])
      expect(response.headers['retry-after']).to.equal('1')
      await app.close()
    })

    it('answers 503 with the code of a busy database while all connections are in use', async () => {
      const { app } = await startApp({ poolTimeout: '1s' })
      const runners = [source.createQueryRunner(), source.createQueryRunner()]
      await Promise.all(runners.map((runner) => runner.connect()))
      const response = await app.inject({ method: 'GET', url: '/slow' })
      await Promise.all(runners.map((runner) => runner.release()))
      expect([response.statusCode, response.json().code]).to.eql([503, 'database_busy'])
      expect(response.headers['retry-after']).to.equal('1')
      await app.close()
    })

    it('limits no statement of a migration, and limits the next statement again', async () => {
      class Slow1000000000001 {
        readonly name = 'Slow1000000000001'
        async up(runner: QueryRunner) {
          await runner.query(sleep.replace('20', '1'))
        }
        async down() {}
      }
      const options = { ...place().options([authSchema]), poolSize: 1, migrations: [Slow1000000000001] }
      const own = createDataSource(options as ConnectionOptions)
      const app = createApp({ environment: 'test' }).use(
        database(own, { statementTimeout: '500ms', migrations: [Slow1000000000001], migrate: true }),
      )
      await app.ready()
      const error = await own.query(sleep).then(
        () => undefined,
        (reason: unknown) => reason,
      )
      expect(error).to.be.instanceOf(Error)
      await app.close()
    })
  })
