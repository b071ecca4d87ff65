import { expect } from 'chai'
import type { DataSource } from 'typeorm'
import { createApp, type Limiter } from 'mortar'
import { type ConnectionOptions, database } from '@mortar/database'
import { limits } from '@mortar/limits'
import { MortarLimits } from '@mortar/limits/schema'
import { withBricks } from '../../../src/cli/project/with-bricks.ts'
import { startupErrorOf } from '../../support/startup-error-of.ts'
import { inSchema, KINDS_AND_DRIVERS } from './databases.ts'

const WRITES = [
  'insert into notes (id) values (2)',
  'update notes set id = 3',
  'delete from notes',
  'create table more (id integer)',
  'drop table notes',
]
const ONE = { limit: 9, window: '1m' }

interface Opened {
  readonly db: DataSource
  readonly limiter: Limiter
}

/** Starts an application as a command does, and ends it. */
async function opened(
  options: ConnectionOptions,
  refuseWrites: boolean,
  work: (services: Opened) => Promise<unknown>,
): Promise<void> {
  const app = createApp({ environment: 'test', logger: false })
    .use(database({ ...options, entities: [MortarLimits] }))
    .use(limits({ store: 'database' }))
  await withBricks(await app.inspect(), { refuseWrites }, (services) => work(services as unknown as Opened))
}

for (const [kind, prepare] of Object.entries(KINDS_AND_DRIVERS))
  describe(`A database that refuses writes, ${kind}`, () => {
    const place = prepare()

    it('reads, and refuses each write of every session, also beside the pool', async () => {
      // Makes the file of SQLite.
      await place().open()
      const options = inSchema(place())
      const fresh = { ...options, synchronize: true }
      await opened(fresh, false, ({ db }) => db.query('create table notes (id integer)'))
      const wipe = { ...fresh, dropSchema: true } as ConnectionOptions
      await opened(wipe, true, async ({ db, limiter }) => {
        const refused = async (work: Promise<unknown>) =>
          expect(await work.then(() => 'done', String)).to.match(/read.?only/i)
        for (const write of WRITES) {
          await refused(db.query(write))
          await refused(db.transaction((tx) => tx.query(write)))
        }
        await Promise.all([...WRITES, ...WRITES].map((write) => refused(db.query(write))))
        expect((await limiter.consume('a', ONE)).remaining).to.equal(8)
        expect(await db.query('select * from notes')).to.deep.equal([])
      })
      await opened(options, false, async ({ db, limiter }) => {
        expect((await limiter.consume('a', ONE)).remaining).to.equal(8)
        await db.query(WRITES[0]!)
      })
    })
  })

describe('A database that was connected before', () => {
  const place = KINDS_AND_DRIVERS['PostgreSQL']!()

  it('is not opened with the promise to refuse writes', async () => {
    const db = await place().open()
    const app = createApp({ environment: 'test', logger: false }).use(database(db))
    const inspection = await app.inspect()
    const { code } = await startupErrorOf(() => withBricks(inspection, { refuseWrites: true }, async () => 0))
    expect(code).to.equal('MORTAR_DATABASE_WRITES')
  })
})
