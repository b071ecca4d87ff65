import { expect } from 'chai'
import { type DataSource, EntitySchema } from 'typeorm'
import { openDataSource, param, query, typeorm } from '@mortar/database'
import { inZone, ZONES } from '../../support/zones.ts'
import { KINDS, KINDS_AND_DRIVERS } from './databases.ts'

interface Moment {
  id: number
  at: Date | string | null
  day: Date | string | null
  createdAt: Date
  updatedAt: Date
  filled: Date
}

const NOW: Readonly<Record<string, string>> = {
  SQLite: "datetime('now')",
  PostgreSQL: 'now()',
  MariaDB: 'CURRENT_TIMESTAMP(3)',
}

/** One entity for each kind, since the default of a column is SQL. */
const momentsOn = (kind: string): EntitySchema<Moment> =>
  new EntitySchema<Moment>({
    name: 'moments',
    columns: {
      id: { type: Number, primary: true },
      at: { type: Date, precision: 3, nullable: true },
      day: { type: 'date', nullable: true },
      createdAt: { type: Date, precision: 3, createDate: true },
      updatedAt: { type: Date, precision: 3, updateDate: true },
      filled: { type: Date, precision: 3, default: () => NOW[kind]! },
    },
  })

/** Names of the types of a column that stores an instant. */
const TYPES: Readonly<Record<string, readonly string[]>> = {
  SQLite: ['datetime'],
  PostgreSQL: ['timestamp', 'timestamptz', 'timestamp with time zone', 'timestamp without time zone'],
  MariaDB: ['datetime', 'timestamp'],
}

/** Both halves of a repeated hour, a local time that does not exist, in Berlin and St. John's, and old local mean time. */
const INSTANTS = [
  '2026-10-25T00:30:00.000Z',
  '2026-10-25T01:30:00.000Z',
  '2026-11-01T03:45:00.120Z',
  '2026-11-01T04:45:00.120Z',
  '2026-03-29T02:30:00.007Z',
  '2026-03-08T02:30:00.070Z',
  '1850-06-01T12:00:00.700Z',
  '1000-01-01T00:00:00.001Z',
  '9999-12-31T23:59:59.999Z',
]

const DAYS = ['2026-03-29', '2026-10-25', '2026-11-01', '1000-01-01', '9999-12-31']

const sixTimes = (day: string): string => Array.from({ length: 6 }, () => day).join()

for (const [name, place] of Object.entries(KINDS_AND_DRIVERS)) {
  const kind = name.split(' ')[0]!
  describe(`instants on ${name}`, () => {
    const database = place('suite')
    const entity = momentsOn(kind)
    const placeholder = kind === 'PostgreSQL' ? '$1' : '?'
    let db: DataSource
    let table: string
    before(async () => {
      db = await database().open([entity])
      await db.synchronize()
      table = db.getMetadata(entity).tablePath
    })
    beforeEach(() => db.getRepository(entity).clear())

    /** Each way to write an instant into a new row. */
    const WRITERS: Record<string, (id: number, at: Date) => Promise<unknown>> = {
      save: (id, at) => db.getRepository(entity).save({ id, at }),
      insert: (id, at) => db.getRepository(entity).insert({ id, at }),
      'a query builder': (id, at) =>
        db.createQueryBuilder().insert().into(entity).values({ id, at }).execute(),
      'a raw statement': async (id, at) => {
        await db.getRepository(entity).insert({ id })
        await db.query(`update ${table} set at = ${placeholder} where id = ${id}`, [at])
      },
      'a transaction': (id, at) =>
        db.transaction((manager) => manager.getRepository(entity).insert({ id, at })),
      'an ISO string': (id, at) => db.getRepository(entity).insert({ id, at: at.toISOString() }),
      'a string without a zone': (id, at) =>
        db.getRepository(entity).insert({ id, at: at.toISOString().slice(0, -1) }),
    }

    /** Each way to read it, with the instant also as a condition. */
    const READERS: Record<string, (at: Date) => Promise<unknown>> = {
      find: async (at) => (await db.getRepository(entity).findOneBy({ at }))?.at,
      'a query builder': async (at) =>
        (await db.getRepository(entity).createQueryBuilder('m').where('m.at = :at', { at }).getOne())?.at,
      'query()': async (at) => (await query(entity, { where: { at: param('at') } }).one(db, { at }))?.at,
      'query() in a transaction': (at) =>
        db.transaction(
          async (manager) => (await query(entity, { where: { at: param('at') } }).one(manager, { at }))?.at,
        ),
      'a raw statement': async (at) => {
        const [row] = await db.query(`select at from ${table} where at = ${placeholder}`, [at])
        return kind === 'SQLite' && row ? new Date(`${row.at.replace(' ', 'T')}Z`) : row?.at
      },
    }

    for (const [writer, write] of Object.entries(WRITERS))
      it(`are those that ${writer} wrote, in every time zone`, async () => {
        for (const [index, zone] of ZONES.entries())
          await inZone(zone, async () => {
            for (const [id, iso] of INSTANTS.entries()) await write(index * 10 + id, new Date(iso))
          })
        for (const zone of ZONES)
          await inZone(zone, async () => {
            for (const { id, at } of await db.getRepository(entity).find())
              expect(at, `${id} in ${zone}`).to.eql(new Date(INSTANTS[id % 10]!))
          })
      })

    for (const [reader, read] of Object.entries(READERS))
      it(`are found and read by ${reader}, in every time zone`, async () => {
        for (const [id, iso] of INSTANTS.entries()) await WRITERS['insert']!(id, new Date(iso))
        for (const zone of ZONES)
          await inZone(zone, async () => {
            for (const iso of INSTANTS)
              expect(await read(new Date(iso)), `${iso} in ${zone}`).to.eql(new Date(iso))
          })
      })

    it('are in UTC under each name of their type, also from a string without a zone', async () => {
      const names = TYPES[kind]!.map((type, index) => [`at${index}`, type] as const)
      const typed = new EntitySchema<Record<string, unknown>>({
        name: 'typed_moments',
        columns: {
          id: { type: Number, primary: true },
          ...Object.fromEntries(
            names.map(([column, type]) => [column, { type: type as 'datetime', nullable: true }]),
          ),
        },
      })
      const source = await database().open([typed])
      await source.synchronize()
      const instant = '2026-07-01 12:00:00'
      const rows = await inZone('Europe/Berlin', async () => {
        const row = Object.fromEntries(names.map(([column]) => [column, instant]))
        await source.getRepository(typed).insert({ id: 1, ...row })
        return await source.getRepository(typed).find()
      })
      const read = names.map(([column, type]) => [type, rows[0]![column]])
      expect(read).to.eql(names.map(([, type]) => [type, new Date(`${instant.replace(' ', 'T')}Z`)]))
    })

    it('sort and compare by time', async () => {
      for (const [id, iso] of INSTANTS.entries())
        await inZone(ZONES[id % ZONES.length]!, () => WRITERS['insert']!(id, new Date(iso)))
      const rows = await db.getRepository(entity).find({ order: { at: 'ASC' } })
      expect(rows.map(({ at }) => (at as Date).toISOString())).to.eql(INSTANTS.toSorted())
      const at = typeorm.LessThan(new Date('2026-10-25T01:00:00Z'))
      expect(await db.getRepository(entity).countBy({ at })).to.equal(5)
    })

    it("agree with the database's own clock", async () => {
      for (const [id, zone] of ZONES.entries())
        await inZone(zone, async () => {
          const from = Date.now() - 1000
          await db.getRepository(entity).insert({ id })
          await db.getRepository(entity).update({ id }, { at: new Date() })
          const row = await db.getRepository(entity).findOneByOrFail({ id })
          for (const moment of [row.createdAt, row.updatedAt, row.filled])
            expect(moment.getTime(), zone).to.be.within(from, Date.now() + 1000)
          await db.getRepository(entity).update({ id }, { at: new Date(Date.now() + 60_000) })
          const clock = kind === 'SQLite' ? "strftime('%Y-%m-%d %H:%M:%f', 'now')" : 'now()'
          const past = async (): Promise<number> =>
            (await db.query(`select id from ${table} where at <= ${clock} and id = ${id}`)).length
          expect(await past(), `${zone}, in a minute`).to.equal(0)
          await db.getRepository(entity).update({ id }, { at: new Date(Date.now() - 60_000) })
          expect(await past(), `${zone}, a minute ago`).to.equal(1)
        })
    })

    it('keep a plain day, given as a string or as its instant in UTC', async () => {
      for (const [index, zone] of ZONES.entries())
        await inZone(zone, async () => {
          for (const [id, day] of DAYS.entries()) {
            await db.getRepository(entity).insert({ id: index * 100 + id, day })
            await db.getRepository(entity).insert({ id: index * 100 + 50 + id, day: new Date(day) })
          }
        })
      for (const zone of ZONES)
        await inZone(zone, async () => {
          for (const day of DAYS) {
            const rows = await db.getRepository(entity).findBy({ day })
            expect(rows.map((row) => row.day).join()).to.equal(sixTimes(day))
            const compiled = await query(entity, { where: { day: param('day') } }).all(db, { day })
            expect(compiled.map((row) => row.day).join()).to.equal(sixTimes(day))
            const raw = await db.query(`select day from ${table} where day = ${placeholder}`, [day])
            expect(raw.map((row: Moment) => row.day).join()).to.equal(sixTimes(day))
          }
        })
    })

    if (name.startsWith('SQLite'))
      it('are of the years that the database stores', async () => {
        const repository = db.getRepository(entity)
        for (const [id, year] of ['0000', '9999'].entries()) {
          const at = new Date(`${year}-06-01T12:00:00.000Z`)
          await repository.insert({ id: 50 + id, at })
          expect((await repository.findOneByOrFail({ id: 50 + id })).at).to.eql(at)
        }
        for (const year of ['-000001', '+010000']) {
          const given = { id: 60, at: new Date(`${year}-06-01T12:00:00.000Z`) }
          const error = await repository.insert(given).catch((reason: unknown) => reason)
          expect(String(error), year).to.include('SQLite stores the years 0 to 9999')
        }
      })

    if (name.startsWith('SQLite'))
      it('are read by query() as by find(), also times that do not exist', async () => {
        const times = ['23:59:59', '24:00:00', '24:00:01', '08:60:00', '08:59:60', '08.15:00', '08:15.00']
        await db.getRepository(entity).insert(times.map((_, id) => ({ id })))
        for (const [id, time] of times.entries())
          await db.query(`update ${table} set at = '2026-11-22 ${time}' where id = ${id}`)
        const found = await db.getRepository(entity).find({ order: { id: 'ASC' } })
        const compiled = await query(entity, { order: { id: 'ASC' } }).all(db)
        const valuesOf = (rows: readonly Moment[]) => rows.map(({ at }) => Number(at))
        expect(valuesOf(compiled)).to.eql(valuesOf(found))
      })

    it('refuse an invalid date before the database stores something else', async () => {
      const invalid = { id: 1, at: new Date(Number.NaN) }
      const error = await db
        .getRepository(entity)
        .insert(invalid)
        .catch((reason: unknown) => reason)
      expect(String(error)).to.equal(`RangeError: The value of the column 'at' is an invalid date.`)
    })
  })
}

for (const [name, place] of Object.entries(KINDS))
  describe(`instants on ${name} with a DataSource of the application's own`, () => {
    const database = place()
    const entity = momentsOn(name)

    it('are the same in every time zone', async () => {
      const options = { ...database().options(), entities: [entity] } as ConstructorParameters<
        typeof typeorm.DataSource
      >[0]
      const db = new typeorm.DataSource(options)
      try {
        await openDataSource(db)
        await db.synchronize()
        for (const [id, zone] of ZONES.entries())
          await inZone(zone, () =>
            db.getRepository(entity).insert({ id, at: new Date(INSTANTS[1]!), day: new Date(DAYS[0]!) }),
          )
        for (const zone of ZONES)
          await inZone(zone, async () => {
            for (const row of await db.getRepository(entity).find())
              expect([row.at, row.day, Date.now() - row.filled.getTime() < 60_000]).to.eql([
                new Date(INSTANTS[1]!),
                DAYS[0],
                true,
              ])
          })
      } finally {
        await db.destroy()
      }
    })
  })
