import { mock } from 'node:test'
import { expect } from 'chai'
import { type DataSource, EntitySchema, Like } from 'typeorm'
import { param, query } from '@mortar/database'
import { chooseReader } from '../../../plugins/database/query/value-reader.ts'
import { KINDS_AND_DRIVERS } from './databases.ts'

const upperCase = {
  to: (value: string | null) => value?.toUpperCase(),
  from: (value: string | null) => value?.toLowerCase(),
}

const Home = new EntitySchema<{ city: string; code: string }>({
  name: 'home',
  columns: { city: { type: String }, code: { type: String, select: false } },
})

interface Person {
  id: number
  rank: number
  nick: string
  home: { city: string; code: string }
}

const People = new EntitySchema<Person>({
  name: 'people',
  columns: {
    id: { type: Number, primary: true },
    rank: { type: Number, name: 'place' },
    nick: { type: String, transformer: upperCase },
  },
  embeddeds: { home: { schema: Home } },
  orderBy: { rank: 'DESC' },
})

/** The plan of a look-up by its key. That of PostgreSQL comes from a run, so that it has the real numbers. */
const PLANS: Readonly<Record<string, RegExp>> = {
  SQLite: /SEARCH people/,
  PostgreSQL: /Scan.+actual .*rows=1.+Buffers: /s,
  MariaDB: /key: PRIMARY/,
}

for (const [kind, place] of Object.entries(KINDS_AND_DRIVERS))
  describe(`query() of an entity with options of its own on ${kind}`, () => {
    const database = place('suite')
    let db: DataSource
    before(async () => {
      db = await database().open([People])
      await db.synchronize()
      const home = { city: 'Ulm', code: '1234' }
      await db.getRepository(People).insert([
        { id: 1, rank: 1, nick: 'ada', home },
        { id: 2, rank: 3, nick: 'adele', home },
        { id: 3, rank: 2, nick: 'bob', home },
      ])
    })

    it('orders rows as the entity says, unless the query has an order', async () => {
      expect(await query(People).all(db)).to.eql(await db.getRepository(People).find())
      expect((await query(People, { limit: 2 }).all(db)).map(({ id }) => id)).to.eql([2, 3])
      expect((await query(People, { order: { id: 'ASC' } }).all(db)).map(({ id }) => id)).to.eql([1, 2, 3])
    })

    it('returns the query plan of the database', async () => {
      const plan = await query(People, { where: { id: param('id') } }).explain(db, { id: 3 })
      expect(plan.join('\n')).to.match(PLANS[kind.split(' ')[0]!]!)
      // MariaDB has null for the index of a query that uses none.
      const whole = await query(People).explain(db)
      expect(whole.join('\n'))
        .to.match(/people/)
        .and.not.match(/null/i)
    })

    it('passes a pattern through the transformer of its column', async () => {
      const expected = await db.getRepository(People).find({ where: { nick: Like('ad%') } })
      expect(expected).to.have.length(2)
      const byNick = query(People, { where: { nick: Like(param('pattern')) } })
      expect(await byNick.all(db, { pattern: 'ad%' })).to.eql(expected)
      expect(await query(People, { where: { nick: Like('ad%') } }).all(db)).to.eql(expected)
    })

    it('leaves hidden columns out of a selected embedded object', async () => {
      const found = await query(People, { select: { id: true, home: true }, limit: 1 }).all(db)
      expect(found).to.eql([{ id: 2, home: { city: 'Ulm' } }])
    })

    it('does not select a property that is false', async () => {
      const select = { id: true, nick: false } as unknown as { id: true }
      expect(await query(People, { select, limit: 1 }).all(db)).to.eql([{ id: 2 }])
    })
  })

/** Types of columns with a value of the driver. TypeORM's own conversion is called for no value of these types. */
const UNCONVERTED = [String, 'varchar', 'character varying', 'char', 'text', 'uuid', 'integer', 'int']
const MOMENT = '2026-11-22 08:15:30.123'
const OF_SQLITE = [['boolean', 1] as const, ...[Date, 'datetime'].map((type) => [type, MOMENT] as const)]

for (const [kind, place] of Object.entries(KINDS_AND_DRIVERS))
  describe(`query() on ${kind}`, () => {
    const database = place()

    it('reads the values of usual columns without the conversion of TypeORM', async () => {
      const { driver } = await database().open([])
      const convert = mock.method(driver, 'prepareHydratedValue')
      for (const type of UNCONVERTED)
        expect(chooseReader(driver, { type } as never), String(type)).to.equal(undefined)
      for (const [type, value] of [[Boolean, 1] as const, ...(kind.startsWith('SQLite') ? OF_SQLITE : [])]) {
        const read = chooseReader(driver, { type } as never)!
        convert.mock.resetCalls()
        const found = read(value)
        expect(convert.mock.callCount(), String(type)).to.equal(0)
        expect(found).to.deep.equal(value === 1 ? true : new Date('2026-11-22T08:15:30.123Z'))
      }
    })
  })

describe('query() of a column whose transformer throws', () => {
  const database = KINDS_AND_DRIVERS['SQLite']!()

  it('throws the error of the transformer, like the repository', async () => {
    const broken = new Error('unreadable')
    const from = (): never => {
      throw broken
    }
    const Secrets = new EntitySchema<{ id: number; text: string }>({
      name: 'secrets',
      columns: {
        id: { type: Number, primary: true },
        text: { type: String, transformer: { to: String, from } },
      },
    })
    const db = await database().open([Secrets])
    await db.synchronize()
    await db.query(`insert into secrets values (1, 'a')`)
    const errorOf = (work: Promise<unknown>) => work.catch((error: unknown) => error)
    expect(await errorOf(db.getRepository(Secrets).find())).to.equal(broken)
    expect(await errorOf(query(Secrets).all(db))).to.equal(broken)
  })
})
