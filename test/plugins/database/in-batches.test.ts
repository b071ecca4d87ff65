import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { expect } from 'chai'
import type { DataSource, MigrationInterface, QueryRunner } from 'typeorm'
import {
  type BatchOptions,
  createDataSource,
  createMigrations,
  inBatches,
  openDataSource,
} from '@mortar/database'
import { unknownTables } from '../../../plugins/database/failures/unknown-tables.ts'
import { StartupError } from 'mortar'
import { bundleScript } from '../../support/bundle-script.ts'
import { inSchema, KINDS } from './databases.ts'

const SCRIPT = join(import.meta.dirname, 'fixtures', 'batches-until-killed.ts')
const ROWS = 403
const OPTIONS: BatchOptions = { name: 'count', table: 'counters', key: 'id', size: 10, pause: 0 }

type Manager = Pick<DataSource['manager'], 'query'>

const countUp = (manager: Manager, keys: readonly (number | string)[]) =>
  manager.query(`UPDATE counters SET n = n + 1 WHERE id IN (${keys.map((key) => `'${key}'`).join()})`)

for (const [kind, prepare] of Object.entries(KINDS))
  describe(`inBatches on ${kind}`, () => {
    const place = prepare()
    let source: DataSource
    beforeEach(async () => {
      source = createDataSource(inSchema(place()))
      await openDataSource(source)
      await source.query('CREATE TABLE counters (id varchar(20) PRIMARY KEY, n int NOT NULL)')
      const rows = Array.from({ length: ROWS }, (_row, at) => `('k${at}', 0)`)
      await source.query(`INSERT INTO counters VALUES ${rows.join()}`)
    })
    afterEach(() => source.destroy())

    /** The numbers of the rows, each once. */
    const numbers = async (): Promise<number[]> => {
      const rows: { n: number }[] = await source.query('SELECT DISTINCT n FROM counters ORDER BY n')
      return rows.map(({ n }) => n)
    }

    it('changes each row once, in transactions of the size', async () => {
      const sizes: number[] = []
      const rows = await inBatches(source, { ...OPTIONS, size: 100 }, async (manager, keys) => {
        expect(manager.queryRunner?.isTransactionActive).to.equal(true)
        sizes.push(keys.length)
        await countUp(manager, keys)
      })
      expect([rows, sizes]).to.eql([ROWS, [100, 100, 100, 100, 3]])
      expect(await numbers()).to.eql([1])
      expect(await unknownTables(source)).to.eql(['counters'])
      await inBatches(source, { ...OPTIONS, size: ROWS }, countUp)
      expect(await numbers()).to.eql([2])
    })

    it('pauses between two batches for the time of its option, or a tenth of a second', async () => {
      for (const [pause, least] of [
        [{ pause: 0.05 }, 190],
        [{}, 390],
      ] as const) {
        const begin = performance.now()
        const { pause: _none, ...options } = OPTIONS
        await inBatches(source, { ...options, ...pause, size: 100 }, countUp)
        expect(performance.now() - begin).to.be.above(least)
      }
    })

    it('continues after the last complete batch when its process was killed', async () => {
      const child = spawn(process.execPath, [await bundleScript(SCRIPT), JSON.stringify(inSchema(place()))], {
        stdio: ['ignore', 'pipe', 'inherit'],
      })
      const ended = once(child, 'close')
      for await (const _line of createInterface({ input: child.stdout })) child.kill('SIGKILL')
      expect(await ended).to.eql([null, 'SIGKILL'])
      expect(await inBatches(source, OPTIONS, countUp)).to.equal(ROWS - 40)
      expect(await numbers()).to.eql([1])
    })

    it('continues after a batch that failed, which leaves nothing', async () => {
      let batches = 0
      const failing = inBatches(source, OPTIONS, async (manager, keys) => {
        await countUp(manager, keys)
        if (++batches === 3) throw new Error('broken')
      })
      expect(await failing.catch(({ message }: Error) => message)).to.equal('broken')
      expect(await inBatches(source, OPTIONS, countUp)).to.equal(ROWS - 20)
      expect(await numbers()).to.eql([1])
    })

    it('runs in a migration without a transaction, and refuses one inside', async () => {
      class Inside1000000000001 implements MigrationInterface {
        async up(runner: QueryRunner): Promise<void> {
          await inBatches(runner.manager, OPTIONS, countUp)
        }
        async down(): Promise<void> {}
      }
      class Outside1000000000001 extends Inside1000000000001 {
        readonly transaction = false
      }
      const refused: unknown = await createMigrations(source, { directory: [Inside1000000000001] })
        .run()
        .catch((error: StartupError) => error.cause)
      expect(refused).to.be.instanceOf(StartupError).with.property('code', 'MORTAR_MIGRATION_BATCHES')
      await createMigrations(source, { directory: [Outside1000000000001] }).run()
      expect(await numbers()).to.eql([1])
    })

    it('goes through numbers in their order', async () => {
      await source.query('CREATE TABLE steps (id int PRIMARY KEY)')
      await source.query('INSERT INTO steps VALUES (2), (10), (1)')
      const seen: unknown[] = []
      await inBatches(source, { ...OPTIONS, table: 'steps', size: 1 }, async (_manager, keys) =>
        seen.push(...keys),
      )
      expect(seen).to.eql([1, 2, 10])
    })
  })
