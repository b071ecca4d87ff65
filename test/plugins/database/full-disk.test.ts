import { spawnSync } from 'node:child_process'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect } from 'chai'
import type { DataSource, QueryRunner } from 'typeorm'
import { createApp, routerFor } from 'mortar'
import { auth } from '@mortar/auth'
import { basicAuth } from '@mortar/auth/basic'
import * as schema from '@mortar/auth/basic/schema'
import { createDataSource, createMigrations, database } from '@mortar/database'
import { Client } from '../auth/support/client.ts'
import { skipSuite } from '../../support/servers.ts'
import { KINDS } from './databases.ts'
import { SQLITE_DRIVERS } from './drivers.ts'
import { Notes } from './notes.ts'

const MIB = 1_048_576

for (const [driverName, driver] of Object.entries(SQLITE_DRIVERS)) {
  describe(`An application whose SQLite file may not grow (${driverName})`, () => {
    it('answers 503 for a write, changes nothing, and serves reads', async () => {
      const { app, source } = makeApp(':memory:', driver)
      expect(await count(app)).to.equal(0)
      await source.query('PRAGMA max_page_count = 10')
      expect(await write(app, 100_000)).to.deep.equal(UNAVAILABLE)
      expect(await count(app)).to.equal(0)
      await source.query('PRAGMA max_page_count = 1000')
      expect(await write(app, 100_000)).to.deep.equal([204, undefined, undefined])
      expect(await count(app)).to.equal(1)
      await app.close()
    })

    for (const [pages, subject] of [
      [1, 'The table of migrations'],
      [4, 'The migration Large1000000000001'],
    ] as const)
      it(`stops a migration with the remedy: ${subject}`, async () => {
        const options = { type: 'better-sqlite3', database: ':memory:', ...(driver && { driver }) } as const
        const source = await createDataSource(options).initialize()
        await source.query(`PRAGMA max_page_count = ${pages}`)
        const running = createMigrations(source, { directory: [Large1000000000001] }).run()
        const error = await running.catch((reason: unknown) => reason)
        await source.destroy()
        expect(error).to.have.property('code', 'MORTAR_MIGRATION_FAILED')
        expect(error)
          .to.have.property('message')
          .that.includes(`${subject} failed: `)
          .and.includes('free space')
        expect(error).to.have.property('message').that.includes('Nothing of it was applied.')
      })
  })

  describe(`An application whose SQLite file is on a full disk (${driverName})`, () => {
    const disk = smallDisk()

    it('is not ready, answers 503 for a write, serves reads, and recovers with free space', async () => {
      const ballast = join(disk(), 'ballast')
      const { app, source } = makeApp(join(disk(), 'app.db'), driver)
      expect(await write(app, 1)).to.deep.equal([204, undefined, undefined])
      expect(await readiness(source)).to.equal(200)
      fill(ballast)
      expect(await readiness(source)).to.equal(503)
      expect(await write(app, MIB)).to.deep.equal(UNAVAILABLE)
      expect(await count(app)).to.equal(1)
      rmSync(ballast)
      expect(await readiness(source)).to.equal(200)
      expect(await write(app, MIB)).to.deep.equal([204, undefined, undefined])
      expect(await count(app)).to.equal(2)
      await app.close()
    })

    it('ends no session and begins none without space, and both with it', async () => {
      const ballast = join(disk(), 'ballast')
      const file = join(disk(), 'users.db')
      const source = createDataSource({
        type: 'better-sqlite3',
        database: file,
        entities: { ...schema },
        synchronize: true,
        ...(driver && { driver }),
      })
      const provider = basicAuth({ secret: 'k3Jv8mQz1Xw5Tn7Rb2Yd9Lc4Hf6Gp0Sa' })
      const app = createApp({ logger: false }).use(database(source)).use(auth(provider))
      const client = new Client(app)
      const user = { name: 'Ada', email: 'ada@example.com', password: 'correct horse battery' }
      expect((await client.post('/auth/signup', user)).status).to.equal(201)
      fill(ballast)
      for (const path of ['/auth/logout', '/auth/login', '/auth/refresh']) {
        const { status, headers } = await client.copy().post(path, user)
        expect([path, status]).to.deep.equal([path, 503])
        expect(headers['retry-after'], path).to.match(/^[12]$/)
      }
      expect((await client.get('/auth/me')).status).to.equal(200)
      rmSync(ballast)
      expect((await client.get('/auth/me')).status).to.equal(200)
      expect((await client.post('/auth/refresh')).status).to.equal(200)
      const { accessToken } = client
      expect((await client.post('/auth/logout')).status).to.equal(204)
      const headers = { authorization: `Bearer ${accessToken}` }
      expect((await app.inject({ url: '/auth/me', headers })).statusCode).to.equal(401)
      await app.close()
    })
  })
}

class Large1000000000001 {
  async up({ manager }: QueryRunner): Promise<void> {
    await manager.query('CREATE TABLE large (text)')
    await manager.query('INSERT INTO large VALUES (?)', ['x'.repeat(100_000)])
  }
  async down(): Promise<void> {}
}

/** Statements that fail as they do on a server whose disk is full. */
const FAILURES = {
  PostgreSQL: ["DO $$ BEGIN RAISE USING ERRCODE = '53100'; END $$"],
  MariaDB: [1021, 1114].map((number) => `SIGNAL SQLSTATE 'HY000' SET MYSQL_ERRNO = ${number}`),
}

for (const [name, failures] of Object.entries(FAILURES))
  describe(`An application whose ${name} has no space`, () => {
    const place = KINDS[name]!()

    it('answers 503 for a write', async () => {
      const app = createApp({ logger: false }).use(database(createDataSource(place().options())))
      const router = routerFor<typeof app>()
      router.post('/fail', (ctx) => ctx.db.query(failures[Number(ctx.query['index'])]!))
      app.use(router)
      for (const index of failures.keys())
        expect(await asked(app, `/fail?index=${index}`)).to.deep.equal(UNAVAILABLE)
      await app.close()
    })
  })

/** Status of `/readyz` of a new application with this database, as the results of its checks are kept for seconds. */
async function readiness(source: DataSource): Promise<number> {
  const app = createApp({ logger: false, health: { critical: ['db'] } }).use(database(source))
  const { statusCode } = await app.inject('/readyz')
  await app.close()
  return statusCode
}

const UNAVAILABLE = [503, 'database_unavailable', '2']

function makeApp(file: string, driver: object | undefined) {
  const source = createDataSource({
    type: 'better-sqlite3',
    database: file,
    entities: [Notes],
    synchronize: true,
    ...(driver && { driver }),
  })
  const app = createApp({ logger: false }).use(database(source))
  const router = routerFor<typeof app>()
  router.get('/notes', (ctx) => ctx.db.getRepository(Notes).count())
  router.post('/notes/:length', async (ctx) => {
    const text = 'x'.repeat(Number(ctx.params['length']))
    await ctx.db.transaction(async (manager) => {
      await manager.insert(Notes, { id: `small-${text.length}`, text: `small-${text.length}` })
      await manager.update(Notes, `small-${text.length}`, { text })
    })
  })
  return { app: app.use(router), source }
}
type TestApp = ReturnType<typeof makeApp>['app']

/** Writes a note of this many bytes. */
const write = (app: TestApp, length: number): Promise<unknown[]> => asked(app, `/notes/${length}`)

/** Status, code and `Retry-After` of the response. */
async function asked(app: Pick<TestApp, 'inject'>, url: string): Promise<unknown[]> {
  const { statusCode, headers, body } = await app.inject({ method: 'POST', url })
  return [statusCode, statusCode >= 400 ? JSON.parse(body).code : undefined, headers['retry-after']]
}

async function count(app: TestApp): Promise<unknown> {
  return JSON.parse((await app.inject('/notes')).body)
}

/** A file system of 8 MiB for the suite whose body is being read, which is skipped where none can be mounted. */
function smallDisk(): () => string {
  if (spawnSync('unshare', ['--mount', 'true']).status !== 0) skipSuite('needs Linux and root')
  let folder = ''
  before(() => {
    folder = mkdtempSync(join(tmpdir(), 'mortar-disk-'))
    expect(spawnSync('mount', ['-t', 'tmpfs', '-o', 'size=8m', 'tmpfs', folder]).status).to.equal(0)
  })
  after(() => {
    spawnSync('umount', ['--lazy', folder])
    rmSync(folder, { recursive: true })
  })
  return () => folder
}

/** Writes a file until the disk is full. */
function fill(file: string): void {
  expect(() => {
    for (;;) writeFileSync(file, Buffer.alloc(65_536), { flag: 'a' })
  }).to.throw('ENOSPC')
}
