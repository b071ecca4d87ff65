import { expect } from 'chai'
import { DataSource, type DataSourceOptions, type QueryRunner } from 'typeorm'
import { BetterSqlite3QueryRunner } from 'typeorm/driver/better-sqlite3/BetterSqlite3QueryRunner.js'
import {
  findChangedInsides,
  postgresPoolOf,
  replaceRunners,
} from '../../../plugins/database/compat/typeorm.ts'
import { createDataSource, database, gateTransactions, openDataSource, query } from '@mortar/database'
import { createApp, type Logger, StartupError } from 'mortar'
import { KINDS_AND_DRIVERS } from './databases.ts'
import { insert, Notes, openPlain } from './notes.ts'

const SQLITE: DataSourceOptions = { type: 'better-sqlite3', database: ':memory:', entities: [Notes] }

/** Makes TypeORM keep something elsewhere, as a later version may. @returns how to undo that. */
const doctored: Record<string, (dataSource: DataSource) => () => void> = {
  'the prepared statements': () => {
    const runner = BetterSqlite3QueryRunner.prototype as unknown as Record<string, unknown>
    const original = runner['getStmt']
    // The constructor's assignment goes nowhere, and statements are prepared without that Map.
    Object.defineProperty(runner, 'stmtCache', {
      get: () => undefined,
      set() {},
      configurable: true,
    })
    runner['getStmt'] = async function (this: QueryRunner, sql: string) {
      return (await this.connect()).prepare(sql)
    }
    return () => {
      delete runner['stmtCache']
      runner['getStmt'] = original
    }
  },
  'the connection': ({ driver }) => {
    const kept = driver as unknown as { databaseConnection?: object }
    const connection = kept.databaseConnection!
    // Everything that the gate uses is still there, but no statement gives arrays.
    kept.databaseConnection = new Proxy(connection, {
      get(target, key) {
        if (key !== 'prepare') return Reflect.get(target, key, target)
        const { prepare } = target as { prepare(sql: string): object }
        return (sql: string) => new Proxy(prepare.call(target, sql), { get: withoutRaw })
      },
    })
    return () => undefined
  },
}

function withoutRaw(statement: object, key: string | symbol): unknown {
  if (key === 'raw') return undefined
  const value: unknown = Reflect.get(statement, key, statement)
  return typeof value === 'function' ? value.bind(statement) : value
}

describe('The undocumented parts of TypeORM that the database brick uses', () => {
  for (const [kind, place] of Object.entries(KINDS_AND_DRIVERS))
    describe(`on ${kind}`, () => {
      const own = place()

      it('exist in the installed version', async () => {
        const source = await own().open([Notes])
        expect(findChangedInsides(source)).to.eql([])
        if (kind === 'PostgreSQL') expect(postgresPoolOf(source)).to.respondTo('query')
      })
    })

  for (const [what, change] of Object.entries(doctored))
    it(`are replaced by a fallback if a version keeps ${what} elsewhere`, async () => {
      const source = await openPlain()
      gateTransactions(source)
      const undo = change(source)
      try {
        expect(findChangedInsides(source)).to.have.length(1)
        await insert(source.manager, 'a')
        await source.transaction((manager) => insert(manager, 'b'))
        expect(await query(Notes, { order: { id: 'ASC' } }).all(source)).to.eql([
          { id: 'id-a', text: 'a' },
          { id: 'id-b', text: 'b' },
        ])
        expect(await source.getRepository(Notes).count()).to.equal(2)
      } finally {
        undo()
        await source.destroy()
      }
    })

  it('are reported once in the log at start if missing', async () => {
    const source = await createDataSource(SQLITE).initialize()
    doctored['the connection']!(source)
    const lines: unknown[] = []
    const write = (...line: unknown[]) => void lines.push(line)
    const logger: Logger = { debug: write, info: write, warn: write, error: write, child: () => logger }
    const app = createApp({ environment: 'test', logger }).use(database(source))
    await app.inject({ method: 'GET', url: '/' })
    await app.close()
    await source.destroy()
    expect(JSON.stringify(lines).match(/query\(\) reads through a query runner/g)).to.have.length(1)
  })

  it('prevent the start if a version keeps the connection where the gate cannot see transactions', async () => {
    const source = new DataSource(SQLITE)
    Object.defineProperty(source.driver, 'databaseConnection', {
      get: () => ({ close: () => undefined }),
      set() {},
    })
    gateTransactions(source)
    const error = await openDataSource(source).catch((reason: unknown) => reason)
    expect(error).to.be.instanceOf(StartupError).with.property('code', 'MORTAR_DATABASE_GATE')
    expect((error as Error).message).to.include('cannot see transactions')
  })

  it('prevent the start if a version would not use the gate', () => {
    const source = new DataSource(SQLITE)
    const other = {} as QueryRunner
    source.createQueryRunner = () => other
    const replacement = {
      createQueryRunner: () => ({}) as QueryRunner,
      afterConnect: async () => undefined,
      afterDisconnect: () => undefined,
    }
    expect(() => replaceRunners(source, replacement))
      .to.throw(StartupError, 'does not use the query runners of the transaction gate')
      .with.property('code', 'MORTAR_DATABASE_GATE')
  })
})
