import { type ChildProcess, spawn } from 'node:child_process'
import { randomUUID } from 'node:crypto'
import { once } from 'node:events'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { setTimeout as wait } from 'node:timers/promises'
import { expect } from 'chai'
import type { DataSource } from 'typeorm'
import { createApp, routerFor } from 'mortar'
import { createDataSource, database, gateTransactions, query } from '@mortar/database'
import { bundleScript } from '../../support/bundle-script.ts'
import { SQLITE_DRIVERS } from './drivers.ts'
import { insert, Notes, openPlain, temporaryFolder, texts } from './notes.ts'

const SCRIPT = join(import.meta.dirname, 'fixtures', 'hold-write-lock.ts')

for (const [name, driver] of Object.entries(SQLITE_DRIVERS))
  describe(`A SQLite file that another process has locked, by ${name}`, function () {
    const folder = temporaryFolder()
    const children: ChildProcess[] = []
    const opened: DataSource[] = []

    afterEach(async () => {
      for (const child of children.splice(0)) child.kill('SIGKILL')
      for (const source of opened.splice(0)) if (source.isInitialized) await source.destroy()
    })

    let file = ''
    beforeEach(() => {
      file = join(folder(), `${randomUUID()}.db`)
    })

    async function open(enableWAL = true): Promise<DataSource> {
      const options = { type: 'better-sqlite3', database: file, entities: [Notes], enableWAL } as const
      const dataSource = createDataSource({ ...options, ...(driver && { driver }) })
      opened.push(await dataSource.initialize())
      await dataSource.synchronize()
      return dataSource
    }

    /** Locks the file in another process, and returns how to unlock it. */
    async function lock(): Promise<() => Promise<void>> {
      const args = [await bundleScript(SCRIPT), file]
      const child = spawn(process.execPath, args, { stdio: ['pipe', 'pipe', 'inherit'] })
      children.push(child)
      const lines = createInterface({ input: child.stdout })
      expect(await once(lines, 'line')).to.eql(['locked'])
      return async () => {
        child.stdin.write('go\n')
        expect(await once(lines, 'line')).to.eql(['free'])
      }
    }

    it('keeps a write waiting while this process goes on, and reads', async () => {
      const dataSource = await open()
      gateTransactions(dataSource, { busyTimeout: '1m' })
      const unlock = await lock()
      const written = insert(dataSource.manager, 'one')
      let turns = 0
      let isDone = false
      void written.then(() => (isDone = true))
      for (; turns < 100; turns++) {
        expect(await texts(dataSource)).to.eql([])
        await wait(1)
      }
      expect(isDone).to.equal(false)
      await unlock()
      await written
      expect(await texts(dataSource)).to.eql(['one'])
    })

    it('keeps a query() waiting that a writer of another connection keeps from reading', async () => {
      const dataSource = await open(false)
      gateTransactions(dataSource, { busyTimeout: '1m' })
      await insert(dataSource.manager, 'one')
      const writer = await openPlain(file, driver)
      opened.push(writer)
      await writer.query('BEGIN EXCLUSIVE')
      const found = query(Notes).all(dataSource)
      await writer.query('COMMIT')
      expect(await found).to.have.length(1)
    })

    it('keeps a transaction waiting, whole and isolated', async () => {
      const dataSource = await open()
      gateTransactions(dataSource, { busyTimeout: '1m' })
      const unlock = await lock()
      const both = dataSource.transaction(async (manager) => {
        await insert(manager, 'one')
        await wait(5)
        await insert(manager, 'two')
      })
      const failed = dataSource
        .transaction(async (manager) => {
          await insert(manager, 'three')
          throw new Error('no')
        })
        .catch((error: unknown) => error)
      await wait(50)
      await unlock()
      await both
      expect(await failed).to.have.property('message', 'no')
      expect(await texts(dataSource)).to.eql(['one', 'two'])
    })

    it('repeats a COMMIT that a reader of another process blocks', async () => {
      const dataSource = await open(false)
      gateTransactions(dataSource, { busyTimeout: '1m' })
      const other = await open(false)
      const reader = other.createQueryRunner()
      // The reader keeps its lock until the end of its transaction.
      await reader.query('BEGIN DEFERRED')
      await reader.query('SELECT * FROM notes')
      const written = dataSource.transaction((manager) => insert(manager, 'one'))
      await wait(50)
      await reader.query('COMMIT')
      await reader.release()
      await written
      expect(await texts(dataSource)).to.eql(['one'])
    })

    it('fails after the time limit with an error of the driver, and is usable afterwards', async () => {
      const dataSource = await open()
      gateTransactions(dataSource, { busyTimeout: 0.05 })
      const unlock = await lock()
      const errors = await Promise.all([
        insert(dataSource.manager, 'one').catch((error: unknown) => error),
        dataSource.transaction((manager) => insert(manager, 'two')).catch((error: unknown) => error),
      ])
      for (const error of errors) expect(error).to.have.property('code', 'SQLITE_BUSY')
      await unlock()
      await insert(dataSource.manager, 'three')
      expect(await texts(dataSource)).to.eql(['three'])
    })

    it('fails a statement that waits with the error of the driver when its query runner is released', async () => {
      const dataSource = await open()
      gateTransactions(dataSource, { busyTimeout: '1m' })
      const unlock = await lock()
      const runner = dataSource.createQueryRunner()
      const failed = runner.query('delete from notes').catch((error: unknown) => error)
      // The statement has failed once and pauses.
      await wait(1)
      await runner.release()
      expect(await failed).to.have.property('code', 'SQLITE_BUSY')
      await unlock()
    })

    it('answers 503 with Retry-After after the time limit, and serves other routes meanwhile', async () => {
      const source = await open()
      const app = createApp({ environment: 'production', logger: false }).use(
        database(source, { busyTimeout: '1s' }),
      )
      const router = routerFor<typeof app>()
      router.get('/', () => 'home')
      router.post('/notes', (ctx) => insert(ctx.db.manager, 'one'))
      app.use(router)
      await app.ready()
      const unlock = await lock()
      const state = { isDone: false }
      const writing = app.inject({ method: 'POST', url: '/notes' }).then((response) => {
        state.isDone = true
        return response
      })
      let served = 0
      while (!state.isDone) {
        expect((await app.inject({ method: 'GET', url: '/' })).statusCode).to.equal(200)
        served++
        await wait(1)
      }
      // The driver's own wait lets one through.
      expect(served).to.be.at.least(4)
      const response = await writing
      expect(response.statusCode).to.equal(503)
      expect(response.headers['retry-after']).to.equal('1')
      expect(response.json()).to.include({ code: 'database_busy', title: 'Database busy' })
      // Reads work, so the metrics alone show the lock: docs/database.md.
      expect((await app.inject('/readyz')).json()).to.not.have.property('checks')
      const { read } = app.services.gauges.all.get('mortar_unavailable_total')!
      expect(read()).to.deep.equal(new Map([['database_busy', 1]]))
      await unlock()
      await app.close()
    })
  })
