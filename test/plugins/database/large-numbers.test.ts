import { expect } from 'chai'
import { type DataSource, EntitySchema } from 'typeorm'
import { param, query } from '@mortar/database'
import { KINDS_AND_DRIVERS } from './databases.ts'

interface Account {
  id: string
  count: number
  balance: string | number | bigint | null
  price: string | number | null
  whole: string | null
  cents: bigint
  rounded: string | null
}

const Accounts = new EntitySchema<Account>({
  name: 'accounts',
  columns: {
    id: { type: 'bigint', primary: true, generated: 'increment' },
    count: { type: Number, default: 7 },
    balance: { type: 'bigint', nullable: true },
    price: { type: 'decimal', precision: 19, scale: 4, nullable: true },
    whole: { type: 'decimal', precision: 19, scale: 0, nullable: true },
    cents: {
      type: 'bigint',
      default: 0,
      transformer: {
        to: (value: bigint | undefined) => value && String(value),
        from: (value: string) => BigInt(value),
      },
    },
    rounded: {
      type: 'decimal',
      precision: 19,
      scale: 4,
      nullable: true,
      transformer: {
        to: (value: string | null | undefined) => value && Number(value).toFixed(2),
        from: (value: string | null) => value,
      },
    },
  },
})

/** Without columns that the database fills, a row is not read again after it was added. */
const wordsOn = (kind: string) =>
  new EntitySchema<{ id: string; word: string }>({
    name: 'words',
    columns: {
      id: { type: kind.startsWith('MariaDB') ? 'bigint' : 'int8', primary: true, generated: 'increment' },
      word: { type: String },
    },
  })

const BIGINTS = [
  '9007199254740993',
  '-9007199254740993',
  '9223372036854775807',
  '-9223372036854775808',
  '0',
  '12',
]
const DECIMALS: Readonly<Record<string, string>> = {
  '0.1': '0.1000',
  '-0.0001': '-0.0001',
  '12345678901.2345': '12345678901.2345',
  '100': '100.0000',
  '0': '0.0000',
}

for (const [kind, place] of Object.entries(KINDS_AND_DRIVERS))
  describe(`large numbers on ${kind}`, () => {
    const database = place('suite')
    const wordsEntity = wordsOn(kind)
    let db: DataSource
    let table: string
    before(async () => {
      db = await database().open([Accounts, wordsEntity])
      await db.synchronize()
      table = db.getMetadata(Accounts).tablePath
    })
    beforeEach(() => db.getRepository(Accounts).clear())

    /** The rows by each way to read them; every way has to give the same. */
    async function read(column: 'balance' | 'price' | 'whole', value: unknown): Promise<unknown[]> {
      const repository = db.getRepository(Accounts)
      const where = { [column]: value }
      const definition: object = { [column]: param('value') }
      const compiled = query(Accounts, { where: definition })
      const built = repository.createQueryBuilder('a').where(`a.${column} = :value`, { value })
      const rows = [
        await repository.findOneBy(where),
        await (compiled.one as (db: DataSource, values: object) => Promise<Account | null>)(db, { value }),
        await db.transaction((manager) => manager.getRepository(Accounts).findOneBy(where)),
        await built.getOne(),
        (await db.query(`select ${column}, count from ${table}`))[0],
      ]
      for (const row of rows) expect(row?.count, String(value)).to.equal(7)
      return rows.map((row) => row?.[column])
    }

    it('of the type bigint are strings, exactly', async () => {
      for (const balance of BIGINTS)
        for (const given of [balance, BigInt(balance)]) {
          await db.getRepository(Accounts).clear()
          await db.getRepository(Accounts).insert({ balance: given })
          expect(new Set(await read('balance', balance))).to.eql(new Set([balance]))
        }
    })

    it('of the type decimal are strings with all digits of the scale', async () => {
      for (const [given, price] of Object.entries(DECIMALS)) {
        await db.getRepository(Accounts).clear()
        await db.getRepository(Accounts).insert({ price: given })
        expect(new Set(await read('price', given))).to.eql(new Set([price]))
      }
      await db.getRepository(Accounts).clear()
      await db.getRepository(Accounts).insert({ whole: '1234567890123456789' })
      expect(new Set(await read('whole', '1234567890123456789'))).to.eql(new Set(['1234567890123456789']))
    })

    it('pass through a transformer as strings, and may be null', async () => {
      await db.getRepository(Accounts).insert({ cents: 9007199254740993n, balance: null, price: null })
      const [row] = await db.getRepository(Accounts).find()
      expect([row?.cents, row?.balance, row?.price]).to.eql([9007199254740993n, null, null])
    })

    it('may have any number of digits before a transformer, which rounds them itself', async () => {
      await db.getRepository(Accounts).insert({ rounded: '123456789.1234567890123' })
      const [row] = await db.getRepository(Accounts).find()
      expect(row?.rounded).to.equal('123456789.1200')
    })

    it('are also strings as generated keys', async () => {
      const saved = await db.getRepository(Accounts).save({ balance: '1' } as Account)
      expect(saved.id).to.be.a('string')
      const found = await db.getRepository(Accounts).findOneBy({ id: saved.id })
      expect(found?.id).to.equal(saved.id)
      await db.getRepository(Accounts).save({ ...found!, balance: '2' })
      const words = db.getRepository(wordsEntity)
      const [first] = (await words.insert({ word: 'a' })).identifiers
      expect([first!['id'], (await words.save({ word: 'b' })).id]).to.eql(['1', '2'])
      expect(await db.getRepository(Accounts).find()).to.have.length(1)
    })

    it('are refused if the database would round them', async () => {
      const tooLong = [{ balance: '9223372036854775808' }, { balance: 2n ** 64n }, { whole: '1'.repeat(20) }]
      const fraction = { price: '123456789012345.6789' }
      if (kind.startsWith('SQLite')) tooLong.push(fraction as never, { price: '123456789012.3456' } as never)
      for (const row of tooLong) {
        const error = await db
          .getRepository(Accounts)
          .insert(row)
          .catch((reason: unknown) => reason)
        expect(error, JSON.stringify(Object.keys(row))).to.be.instanceOf(Error)
      }
      expect(await db.getRepository(Accounts).count()).to.equal(0)
      if (kind.startsWith('SQLite')) return
      await db.getRepository(Accounts).insert(fraction)
      expect(new Set(await read('price', fraction.price))).to.eql(new Set([fraction.price]))
    })
  })

/** The names that TypeORM has for these types on SQLite, and how they read a number of 18 digits. */
const NAMES = {
  bigint: '123456789012345678',
  int8: '123456789012345678',
  'unsigned big int': '123456789012345678',
  decimal: '123456789012345678',
  numeric: '123456789012345678',
  integer: 123456789012345680,
} as const

for (const kind of ['SQLite', 'SQLite by libsql'])
  describe(`each name of a type of large numbers on ${kind}`, () => {
    const database = KINDS_AND_DRIVERS[kind]!()

    for (const [name, expected] of Object.entries(NAMES))
      it(`is ${name}, which reads a ${typeof expected}`, async () => {
        const Numbers = new EntitySchema<{ id: number; value: string | number }>({
          name: 'numbers',
          columns: { id: { type: Number, primary: true }, value: { type: name as keyof typeof NAMES } },
        })
        const db = await database().open([Numbers])
        await db.synchronize()
        await db.query('insert into numbers values (1, 123456789012345678)')
        const rows = [
          await db.getRepository(Numbers).find(),
          await query(Numbers).all(db),
          await db.query('select * from numbers'),
        ]
        for (const row of rows) expect(row).to.eql([{ id: 1, value: expected }])
        const refused = db.getRepository(Numbers).insert({ id: 2, value: '9223372036854775808' })
        const error: unknown = await refused.catch((reason: unknown) => reason)
        if (name !== 'integer') expect(error).to.be.instanceOf(RangeError)
      })
  })
