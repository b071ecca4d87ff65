import { inspect } from 'node:util'
import { expect } from 'chai'
import { type DataSource, EntitySchema, type EntitySchemaColumnOptions } from 'typeorm'
import { param, query } from '@mortar/database'
import { seedFor } from '../../support/seed.ts'
import { type Random, type Sample, SAMPLES } from './column-types.ts'
import { KINDS_AND_DRIVERS } from './databases.ts'

type Row = Record<string, unknown>

const ROWS = 60
const SOFTLY_DELETED = ROWS / 10

interface Embedded {
  readonly city: string | null
  readonly since: Date | null
}

const Inner = new EntitySchema<Embedded>({
  name: 'inner',
  columns: {
    city: { type: String, nullable: true },
    since: { type: Date, precision: 3, nullable: true },
  },
})

const Part = new EntitySchema<{ street: string | null; isMain: boolean | null; inner: Embedded }>({
  name: 'part',
  columns: {
    street: { type: String, nullable: true },
    isMain: { type: Boolean, nullable: true, name: 'main_one' },
  },
  embeddeds: { inner: { schema: Inner, prefix: 'deep_' } },
})

/** Renders rows that JSON cannot represent (bigint, buffer), with the order of properties and the classes. */
const written = (value: unknown): string =>
  inspect(value, { depth: null, maxArrayLength: null, maxStringLength: null })

for (const [kind, place] of Object.entries(KINDS_AND_DRIVERS))
  describe(`query() beside TypeORM's repository on ${kind}`, function () {
    const database = place('suite')
    const samples = SAMPLES[kind.split(' ')[0]!]!
    const entity = everyColumn(samples)
    let dataSource: DataSource
    let rows: Row[]
    before(async () => {
      dataSource = await database().open([entity])
      await dataSource.synchronize()
      const random = randomFrom(seedFor(`columns of ${kind}`))
      const repository = dataSource.getRepository(entity)
      for (let id = 0; id < ROWS; id++) await repository.insert(randomRow(id, samples, random))
      rows = await repository.find({ order: { id: 'ASC' } })
      expect(rows).to.have.length(ROWS - SOFTLY_DELETED)
    })

    it('reads every type of column like the repository, in the same order of properties', async () => {
      const found = await query(entity, { order: { id: 'ASC' } }).all(dataSource)
      expect(written(found)).to.equal(written(rows))
      expect(found).to.eql(rows)
    })

    it('reads the same inside a transaction', async () => {
      const found = await dataSource.transaction((manager) =>
        query(entity, { order: { id: 'ASC' } }).all(manager),
      )
      expect(written(found)).to.equal(written(rows))
    })

    it('reads the same selection, also of columns that are not selected by default', async () => {
      const found = await query(entity, {
        select: { id: true, secret: true, camelCase: true },
        order: { id: 'DESC' },
      }).all(dataSource)
      const select = { id: true, secret: true, camelCase: true }
      expect(written(found)).to.equal(
        written(await dataSource.getRepository(entity).find({ select, order: { id: 'DESC' } })),
      )
    })

    it('counts and reads soft-deleted rows only if the option asks for it', async () => {
      const repository = dataSource.getRepository(entity)
      expect(await query(entity).count(dataSource)).to.equal(await repository.count())
      expect(await query(entity, { withDeleted: true }).count(dataSource)).to.equal(ROWS)
      const found = await query(entity, { withDeleted: true, order: { id: 'ASC' } }).all(dataSource)
      expect(written(found)).to.equal(
        written(await repository.find({ withDeleted: true, order: { id: 'ASC' } })),
      )
    })

    for (const [property] of Object.entries(samples).filter(([, { comparable }]) => comparable))
      it(`finds the same rows by ${property}`, async () => {
        const where: object = { [property]: param('value') }
        const compared = query(entity, { where, order: { id: 'ASC' } })
        for (const row of rows.slice(0, 12)) {
          const value = row[property]
          if (value === null || value === undefined) continue
          const expected = await dataSource
            .getRepository(entity)
            .find({ where: { [property]: value } as never, order: { id: 'ASC' } })
          const found = await (compared.all as (db: DataSource, params: object) => Promise<object[]>)(
            dataSource,
            { value },
          )
          expect(found.length, String(value)).to.be.greaterThan(0)
          expect(written(found)).to.equal(written(expected))
        }
      })
  })

/** A table with a column of each type, nullable, beside what TypeORM fills itself and two embedded objects. */
function everyColumn(samples: Readonly<Record<string, Sample>>): EntitySchema<Row> {
  const columns: Record<string, EntitySchemaColumnOptions> = {
    id: { type: Number, primary: true },
    secret: { type: String, select: false, nullable: true },
    createdAt: { type: Date, createDate: true, name: 'created_at' },
    updatedAt: { type: Date, updateDate: true, name: 'updated_at' },
    deletedAt: { type: Date, deleteDate: true, name: 'deleted_at', nullable: true },
    revision: { type: Number, version: true },
  }
  for (const [property, { column }] of Object.entries(samples))
    columns[property] = { ...column, nullable: true }
  return new EntitySchema<Row>({
    name: 'Every Column',
    tableName: 'every column',
    columns,
    embeddeds: { home: { schema: Part }, work: { schema: Part, prefix: 'job' } },
  })
}

function randomRow(id: number, samples: Readonly<Record<string, Sample>>, random: Random): Row {
  const row: Row = { id, secret: `s${id}` }
  for (const [property, { value }] of Object.entries(samples))
    row[property] = random(6) === 0 ? null : value(random)
  if (id % 10 === 0) row['deletedAt'] = new Date(0)
  row['home'] = part(random)
  row['work'] = random(3) === 0 ? {} : part(random)
  return row
}

function part(random: Random): object {
  return {
    street: random(3) === 0 ? null : `street ${random(9)}`,
    isMain: [null, true, false][random(3)],
    inner: {
      city: random(3) === 0 ? null : 'city',
      since: random(2) === 0 ? null : new Date(random(2 ** 31) * 900),
    },
  }
}

function randomFrom(seed: number): Random {
  let state = seed
  return (below) => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0
    return Math.floor((state / 2 ** 32) * below)
  }
}
