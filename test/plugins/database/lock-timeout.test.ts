import { randomBytes } from 'node:crypto'
import { expect } from 'chai'
import type { DataSource, MigrationInterface, QueryRunner } from 'typeorm'
import { AbstractLogger } from 'typeorm'
import {
  createDataSource,
  createMigrations,
  fromUrl,
  gateTransactions,
  type MigrationClass,
} from '@mortar/database'
import { StartupError } from 'mortar'
import { runAtomically } from '../../../plugins/database/lock-timeout.ts'
import { watchConnections } from '../../../plugins/database/connections/watch-connections.ts'
import { runStatement, withDatabase } from '../../support/run-statement.ts'
import { serverUrl } from '../../support/servers.ts'
import { inSchema, KINDS, type TestDatabase } from './databases.ts'

class AddTag1000000000001 implements MigrationInterface {
  async up(runner: QueryRunner): Promise<void> {
    await runner.query('CREATE TABLE tags (id int)')
    await runner.query('ALTER TABLE notes ADD tag varchar(20)')
  }
  async down(): Promise<void> {}
}

/** The same without a transaction. */
class AddTagAlone1000000000001 extends AddTag1000000000001 {
  readonly transaction = false
}

/** Calls back at the first statement that fails. */
class FirstError extends AbstractLogger {
  readonly #call: () => Promise<void>
  called: Promise<void> | undefined
  constructor(call: () => Promise<void>) {
    super(['error'])
    this.#call = call
  }
  protected override writeLog(): void {}
  override logQueryError(): void {
    this.called ??= this.#call()
  }
}

for (const [kind, prepare] of Object.entries(KINDS))
  describe(`a migration on ${kind} whose table another transaction uses`, function () {
    const place = prepare()
    let other: DataSource
    let holder: QueryRunner
    let opened: DataSource[] = []
    beforeEach(async () => {
      opened = []
      other = await createDataSource(inSchema(place())).initialize()
      opened.push(other)
      await other.query('CREATE TABLE notes (id int)')
      holder = other.createQueryRunner()
      await holder.startTransaction()
      await holder.query(kind === 'SQLite' ? 'INSERT INTO notes VALUES (1)' : 'SELECT * FROM notes')
    })
    afterEach(async () => {
      if (holder.isTransactionActive) await holder.rollbackTransaction()
      await holder.release()
      await Promise.all(opened.map((source) => source.destroy()))
    })

    async function open(database: TestDatabase, onError = async () => {}) {
      const logger = new FirstError(onError)
      const source = await createDataSource({ ...inSchema(database), logger }).initialize()
      gateTransactions(source, { busyTimeout: '20ms' })
      opened.push(source)
      const run = (directory: MigrationClass) =>
        createMigrations(source, { directory: [directory], lockTimeout: '50ms' }).run()
      return { source, run, logger }
    }

    for (const migration of [AddTag1000000000001, AddTagAlone1000000000001])
      it(`is repeated until it gets its lock, and lets others through meanwhile: ${migration.name}`, async () => {
        const { source, run, logger } = await open(place(), async () => {
          if (kind !== 'SQLite') await other.query('SELECT * FROM notes')
          await holder.rollbackTransaction()
        })
        expect(await run(migration)).to.eql([migration.name])
        await logger.called
        expect(logger.called).to.be.a('promise')
        expect(await source.query('SELECT tag FROM notes')).to.eql([])
      })

    it('gives up, says what remains, and runs when the table is free', async () => {
      const { source, run } = await open(place())
      const error = await failure(run(AddTag1000000000001))
      expect(error.code).to.equal('MORTAR_MIGRATION_BLOCKED')
      expect(error.message).to.match(/did not get a lock within 0\.05 s, 6 times/)
      const remains = kind === 'MariaDB'
      expect(error.message).to.include(
        remains
          ? 'One of its statements was applied and remains, the last one: CREATE TABLE tags (id int).'
          : 'Nothing of it was applied.',
      )
      await holder.rollbackTransaction()
      if (remains) await source.query('DROP TABLE tags')
      expect(await run(AddTag1000000000001)).to.have.length(1)
    })

    for (const transaction of [undefined, false])
      it(`says what of a failed migration remains, with transaction = ${transaction}`, async () => {
        await holder.rollbackTransaction()
        class Broken1000000000001 implements MigrationInterface {
          readonly transaction = transaction as boolean
          async up(runner: QueryRunner): Promise<void> {
            await runner.query('CREATE TABLE tags (id varchar(20))')
            await runner.query(`INSERT INTO tags VALUES ('hidden')`)
            await runner.query('SELECT * FROM nowhere')
          }
          async down(): Promise<void> {}
        }
        const { message, code } = await failure((await open(place())).run(Broken1000000000001))
        expect(code).to.equal('MORTAR_MIGRATION_FAILED')
        expect(message).to.include(
          transaction === false
            ? '2 of its statements were applied and remain, the last one: INSERT INTO tags.'
            : kind === 'MariaDB'
              ? 'One of its statements was applied and remains, the last one: CREATE TABLE tags (id varchar(20)).'
              : 'Nothing of it was applied.',
        )
        expect(message).not.to.include('hidden')
      })

    it('says what remains of a transaction of its own, also after a rollback to a savepoint', async () => {
      await holder.rollbackTransaction()
      class Broken1000000000001 implements MigrationInterface {
        readonly transaction = false
        async up(runner: QueryRunner): Promise<void> {
          await runner.query('CREATE TABLE tags (id varchar(20))')
          await runner.startTransaction()
          await runner.query(`INSERT INTO tags VALUES ('hidden')`)
          await runner.startTransaction()
          await runner.rollbackTransaction()
          await runner.commitTransaction()
          await runner.query('SELECT * FROM nowhere')
        }
        async down(): Promise<void> {}
      }
      const { message } = await failure((await open(place())).run(Broken1000000000001))
      expect(message).to.include(
        '2 of its statements were applied and remain, the last one: INSERT INTO tags.',
      )
    })

    for (const transaction of kind === 'SQLite' ? [] : [undefined, false])
      it(`is named when its connection is lost, with transaction = ${transaction}`, async () => {
        await holder.rollbackTransaction()
        class Lost1000000000001 implements MigrationInterface {
          readonly transaction = transaction as boolean
          async up(runner: QueryRunner): Promise<void> {
            const [{ kill }] = await runner.query(KILL[kind]!)
            await other.query(kill)
            await runner.query('SELECT 1')
          }
          async down(): Promise<void> {}
        }
        const { source, run } = await open(place())
        // The end of the run restores the limit, which fails too.
        watchConnections(source, { statementTimeout: '1m' })
        const { message } = await failure(run(Lost1000000000001))
        expect(message).to.include('The migration Lost1000000000001 failed')
      })

    if (kind === 'PostgreSQL')
      it('leaves the settings of a transaction that it has begun itself', async () => {
        await holder.rollbackTransaction()
        let rows: unknown
        class Own1000000000001 implements MigrationInterface {
          readonly transaction = false
          async up(runner: QueryRunner): Promise<void> {
            await runner.startTransaction()
            await runner.query('CREATE TABLE tags (id int)')
            rows = await runner.query('SHOW lock_timeout')
            await runner.commitTransaction()
          }
          async down(): Promise<void> {}
        }
        await (await open(place())).run(Own1000000000001)
        expect(rows).to.eql([{ lock_timeout: '0' }])
      })

    if (kind === 'MariaDB')
      it('waits for a whole second where the server counts in seconds, not for none', async () => {
        await holder.rollbackTransaction()
        let limits: readonly object[] = []
        class Read1000000000001 implements MigrationInterface {
          async up(runner: QueryRunner): Promise<void> {
            limits = await runner.query('SELECT @@lock_wait_timeout, @@innodb_lock_wait_timeout')
          }
          async down(): Promise<void> {}
        }
        await (await open(place())).run(Read1000000000001)
        expect(Object.values(limits[0]!).map(Number)).to.eql([1, 1])
      })

    it('leaves the settings of the connection as they were', async () => {
      await holder.rollbackTransaction()
      const { source, run } = await open(place())
      await run(AddTag1000000000001)
      const rows: unknown[] = await source.query(SETTINGS[kind]!)
      expect(Object.values(rows[0]!).map(Number)).to.eql(DEFAULTS[kind])
    })
  })

describe('CREATE INDEX CONCURRENTLY in a migration on PostgreSQL', function () {
  const url = serverUrl('TEST_POSTGRES_URL')
  const name = `mortar_${randomBytes(6).toString('hex')}`
  let source: DataSource
  // The statement waits for older transactions of the database, also of other tests.
  before(() => runStatement(fromUrl(url), `create database ${name}`))
  after(() => runStatement(fromUrl(url), `drop database ${name}`))
  beforeEach(async () => {
    source = await createDataSource(fromUrl(withDatabase(url, name))).initialize()
    await source.query('CREATE TABLE notes (id int)')
  })
  afterEach(async () => {
    await source.query('DROP TABLE notes')
    await source.query('DROP TABLE migrations')
    await source.destroy()
  })

  class AddIndex1000000000001 implements MigrationInterface {
    async up(runner: QueryRunner): Promise<void> {
      await runner.query('CREATE INDEX CONCURRENTLY "by_id" ON notes (id)')
    }
    async down(): Promise<void> {}
  }
  class AddIndexAlone1000000000001 extends AddIndex1000000000001 {
    readonly transaction = false
  }
  const run = (directory: MigrationClass) =>
    createMigrations(source, { directory: [directory], lockTimeout: '50ms' }).run()

  it('runs outside of a transaction, and waits for older transactions longer than lockTimeout', async () => {
    const holder = source.createQueryRunner()
    await holder.startTransaction()
    await holder.query('INSERT INTO notes VALUES (1)')
    const running = run(AddIndexAlone1000000000001)
    const waited = `SELECT 1 FROM pg_stat_activity WHERE query LIKE 'CREATE INDEX CONCURRENTLY "by_id"%'
      AND wait_event_type = 'Lock' AND clock_timestamp() - query_start > interval '150 ms'`
    const state = { isOver: false }
    void running.finally(() => (state.isOver = true)).catch(() => undefined)
    while (!state.isOver && (await source.query(waited)).length === 0);
    await holder.commitTransaction()
    await holder.release()
    expect(await running).to.have.length(1)
    const rows: unknown[] = await source.query(
      `SELECT indisvalid FROM pg_index WHERE indexrelid = 'by_id'::regclass`,
    )
    expect(rows).to.eql([{ indisvalid: true }])
  })

  it('fails inside of one, with the remedy', async () => {
    const { message } = await failure(run(AddIndex1000000000001))
    expect(message).to.include('add `readonly transaction = false`')
  })
})

describe('A statement of a migration that has not got its lock', () => {
  it('is repeated after a pause as long as its wait', async () => {
    const begun: number[] = []
    const dataSource = { options: { type: 'mariadb' } }
    const runner = {
      async query() {},
      async startTransaction() {},
      async commitTransaction() {},
      async rollbackTransaction() {},
    }
    const attempt = async (): Promise<void> => {
      if (begun.push(performance.now()) === 1)
        throw Object.assign(new Error(), { code: 'ER_LOCK_WAIT_TIMEOUT' })
    }
    await runAtomically({ dataSource, runner, lockTimeout: 50 } as never, attempt)
    // A timer of Node may be a millisecond early.
    expect(begun[1]! - begun[0]!).to.be.at.least(49)
  })
})

const SETTINGS: Readonly<Record<string, string>> = {
  SQLite: 'PRAGMA foreign_keys',
  PostgreSQL: 'SHOW lock_timeout',
  MariaDB: 'SELECT @@lock_wait_timeout - @@global.lock_wait_timeout, @@innodb_lock_wait_timeout',
}

/** Makes the statement that ends the session. */
const KILL: Readonly<Record<string, string>> = {
  PostgreSQL: `SELECT 'SELECT pg_terminate_backend(' || pg_backend_pid() || ')' AS "kill"`,
  MariaDB: "SELECT CONCAT('KILL ', CONNECTION_ID()) AS `kill`",
}

const DEFAULTS: Readonly<Record<string, readonly number[]>> = {
  SQLite: [1],
  PostgreSQL: [0],
  MariaDB: [0, 50],
}

async function failure(work: Promise<unknown>): Promise<StartupError> {
  const error: unknown = await work.then(
    () => undefined,
    (thrown: unknown) => thrown,
  )
  expect(error).to.be.instanceOf(StartupError)
  return error as StartupError
}
