import { spawn } from 'node:child_process'
import { randomUUID } from 'node:crypto'
import { once } from 'node:events'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { setTimeout as wait } from 'node:timers/promises'
import { expect } from 'chai'
import type { MigrationInterface, QueryRunner } from 'typeorm'
import { type ConnectionOptions, createDataSource, createMigrations } from '@mortar/database'
import { bundleScript } from '../../support/bundle-script.ts'
import { inSchema, KINDS } from './databases.ts'
import { temporaryFolder } from './notes.ts'

const SCRIPT = join(import.meta.dirname, 'fixtures', 'migrate-once.ts')

describe('processes that start together on one new SQLite file', function () {
  const folder = temporaryFolder()

  it('run each migration once, and all of them succeed', async () => {
    const database = join(folder(), 'new', 'app.db')
    const runs = await Promise.all([1, 2, 3].map(() => startMigration(database)))
    const ran = await Promise.all(runs.map((begin) => begin()))
    expect(ran.flat().toSorted()).to.eql(['Step1000000000001', 'Step1000000000002', 'Step1000000000003'])
  })
})

class Pets1000000000002 implements MigrationInterface {
  async up(runner: QueryRunner): Promise<void> {
    await runner.query('CREATE TABLE pets (id int)')
  }
  async down(): Promise<void> {}
}

class Inner1000000000001 implements MigrationInterface {
  async up(runner: QueryRunner): Promise<void> {
    await runner.query('SELECT 1')
  }
  async down(): Promise<void> {}
}

describe('a migration that another process has applied meanwhile', () => {
  const place = KINDS['SQLite']!()

  it('is not applied again', async () => {
    const [own, other] = [await place().open(), await place().open()]
    class Slow1000000000001 implements MigrationInterface {
      readonly transaction = false
      async up(): Promise<void> {
        expect(await createMigrations(other, { directory: [Pets1000000000002] }).run()).to.have.length(1)
      }
      async down(): Promise<void> {}
    }
    const { run } = createMigrations(own, { directory: [Slow1000000000001, Pets1000000000002] })
    expect(await run()).to.eql(['Slow1000000000001'])
  })
})

describe('a migration that another process has reverted meanwhile', () => {
  const place = KINDS['SQLite']!()

  it('is not reverted again', async () => {
    const [own, other] = [await place().open(), await place().open()]
    const reverted: string[] = []
    const step = (name: string) =>
      class implements MigrationInterface {
        readonly name = name
        async up(): Promise<void> {}
        async down(): Promise<void> {
          reverted.push(name)
        }
      }
    const directory = [step('One1000000000001'), step('Two1000000000002')]
    const [mine, theirs] = [createMigrations(own, { directory }), createMigrations(other, { directory })]
    await mine.run()
    const createQueryRunner = own.createQueryRunner.bind(own)
    own.createQueryRunner = (...given) => {
      const runner = createQueryRunner(...given)
      const begin = runner.beforeMigration.bind(runner)
      // The last migration has been read, and its transaction has not begun.
      runner.beforeMigration = () => theirs.revert().then(begin)
      return runner
    }
    expect(await mine.revert()).to.equal(undefined)
    expect(reverted).to.eql(['Two1000000000002'])
  })
})

describe('the table of migrations on PostgreSQL', () => {
  const place = KINDS['PostgreSQL']!()

  it('needs rights: the error names them if the user lacks them', async () => {
    const options = { ...place().options(), extra: { options: '-c role=pg_read_all_data' } }
    const source = await createDataSource(options).initialize()
    const running = createMigrations(source, { directory: [] }).run()
    const error = await running.catch((reason: unknown) => reason)
    await source.destroy()
    expect(error).to.have.property('code', 'MORTAR_MIGRATION_FAILED')
    expect(error)
      .to.have.property('message')
      .that.matches(/^The table of migrations failed: permission denied .*\n.*the rights of the user/)
  })
})

for (const kind of ['MariaDB', 'PostgreSQL'])
  describe(`the lock of migrations on ${kind}`, () => {
    const place = KINDS[kind]!()
    const second = KINDS[kind]!()
    const OTHERS: Readonly<Record<string, () => ConnectionOptions>> = {
      database: () => inSchema(second()),
      'table of migrations': () => ({ ...inSchema(place()), migrationsTableName: 'other' }),
    }

    for (const [what, options] of Object.entries(OTHERS))
      it(`is of one ${what}`, async () => {
        const [own, other] = [await place().open(), await createDataSource(options()).initialize()]
        class Outer1000000000001 implements MigrationInterface {
          async up(): Promise<void> {
            expect(await createMigrations(other, { directory: [Pets1000000000002] }).run()).to.have.length(1)
          }
          async down(): Promise<void> {}
        }
        try {
          expect(await createMigrations(own, { directory: [Outer1000000000001] }).run()).to.have.length(1)
        } finally {
          await other.destroy()
        }
      })
  })

describe('the lock of migrations on PostgreSQL', () => {
  const place = KINDS['PostgreSQL']!()
  const second = KINDS['PostgreSQL']!()

  it('is of one schema', async () => {
    const keys: unknown[] = []
    for (const each of [place, second, place]) {
      const name = `mortar_${randomUUID()}`
      const source = await createDataSource({
        ...each().options(),
        extra: { application_name: name },
      }).initialize()
      class Looks1000000000001 implements MigrationInterface {
        readonly name = `Looks${1000000000001 + keys.length}`
        async up(runner: QueryRunner): Promise<void> {
          const rows: unknown[] = await runner.query(
            "SELECT classid, objid FROM pg_locks JOIN pg_stat_activity USING (pid) WHERE locktype = 'advisory' AND application_name = $1",
            [name],
          )
          keys.push(JSON.stringify(rows))
        }
        async down(): Promise<void> {}
      }
      await createMigrations(source, { directory: [Looks1000000000001] }).run()
      await source.destroy()
    }
    expect(keys[0]).to.include('objid').and.equal(keys[2]).and.not.equal(keys[1])
  })

  it('leaves no connection behind', async () => {
    const name = `mortar_${randomUUID()}`
    const source = await createDataSource({
      ...place().options(),
      extra: { application_name: name },
    }).initialize()
    await createMigrations(source, { directory: [Inner1000000000001] }).run()
    await source.destroy()
    const other = await place().open()
    const count = async (): Promise<number> => {
      const [row] = await other.query(
        'SELECT count(*)::int AS found FROM pg_stat_activity WHERE application_name = $1',
        [name],
      )
      return row.found as number
    }
    // The server ends a session a moment after its connection.
    for (let turn = 0; turn < 6000 && (await count()) > 0; turn++) await wait(10)
    expect(await count()).to.equal(0)
  })

  it('outlives a limit for idle transactions that is shorter than a migration', async () => {
    class Slow1000000000001 implements MigrationInterface {
      async up(runner: QueryRunner): Promise<void> {
        await runner.query('SELECT pg_sleep(4)')
      }
      async down(): Promise<void> {}
    }
    const extra = { options: '-c idle_in_transaction_session_timeout=3000' }
    const source = await createDataSource({ ...place().options(), extra }).initialize()
    const { run } = createMigrations(source, { directory: [Slow1000000000001] })
    expect(await run()).to.eql(['Slow1000000000001'])
    await source.destroy()
  })

  it('drops no table of a source whose option dropSchema has emptied the database at its start', async () => {
    const options = { ...inSchema(place()), dropSchema: true } as ConnectionOptions
    const source = await createDataSource(options).initialize()
    await source.query('CREATE TABLE notes (id int)')
    expect(await createMigrations(source, { directory: [Pets1000000000002] }).run()).to.have.length(1)
    expect(await source.query('SELECT * FROM notes')).to.eql([])
    await source.destroy()
  })
})

/** Starts a process; resolves once it has loaded, to a function that lets it begin and gives the names it ran. */
async function startMigration(database: string): Promise<() => Promise<string[]>> {
  const child = spawn(process.execPath, [await bundleScript(SCRIPT), database], {
    stdio: ['pipe', 'pipe', 'inherit'],
  })
  const lines = createInterface({ input: child.stdout })[Symbol.asyncIterator]()
  const ended = once(child, 'close')
  expect((await lines.next()).value).to.equal('ready')
  return async () => {
    child.stdin.end()
    const { value = '[]' } = await lines.next()
    expect(await ended).to.eql([0, null])
    return JSON.parse(value) as string[]
  }
}
