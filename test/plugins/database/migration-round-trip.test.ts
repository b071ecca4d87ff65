import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect } from 'chai'
import { EntitySchema } from 'typeorm'
import { createMigrations } from '@mortar/database'
import {
  describeDifferences,
  schemaDifferences,
} from '../../../plugins/database/migrations/schema-differences.ts'
import * as auth from '@mortar/auth/basic/schema'
import { KINDS_AND_DRIVERS } from './databases.ts'
import { temporaryFolder } from './notes.ts'

/** Columns with every kind of default. */
const columns = {
  id: { type: Number, primary: true, generated: true },
  empty: { type: String, nullable: true },
  none: { type: String, length: 20, nullable: true, default: null },
  text: { type: String, length: 20, default: 'none' },
  word: { type: String, length: 20, default: 'NULL' },
  number: { type: 'int', default: 7 },
  yes: { type: Boolean, default: true },
  gone: { type: Date, nullable: true },
  at: { type: Date, createDate: true },
} as const

const Things = new EntitySchema({ name: 'things', columns })
const Longer = new EntitySchema({
  name: 'things',
  columns: {
    ...columns,
    none: { ...columns.none, length: 40 },
    text: { ...columns.text, length: 40 },
  },
})

/** The tables of users with columns of the application. */
const extended = {
  ...auth,
  AuthUsers: auth.authUsers({
    role: { type: String, length: 20, default: 'user' },
    team: { type: Number, nullable: true },
    seen_at: { type: Date, precision: 3, nullable: true },
  }),
}

/** The tables of each brick, from all of its schema modules. */
const PLUGINS = new URL('../../../plugins/', import.meta.url)
const bricks: Record<string, Record<string, unknown>> = {}
for (const plugin of readdirSync(PLUGINS)) {
  const { name, exports } = JSON.parse(readFileSync(new URL(`${plugin}/package.json`, PLUGINS), 'utf8'))
  for (const entry of Object.keys(exports).filter((key) => key.endsWith('/schema')))
    bricks[name] = { ...bricks[name], ...(await import(join(name, entry))) }
}
const all = Object.assign({}, ...Object.values(bricks)) as typeof auth

it('the round trips of migrations know the tables of all bricks', () => {
  expect(bricks).to.include.all.keys('@mortar/auth', '@mortar/jobs', '@mortar/limits', '@mortar/realtime')
  expect(Object.keys(all)).to.include.members(['AuthTotp', 'AuthUsers', 'MortarWebhookDeliveries'])
})

describe('the description of differences', () => {
  for (const [count, end] of [
    [8, '; 8.'],
    [9, '; 8; 1 more.'],
  ] as const)
    it(`names eight of ${count} differences`, () => {
      const names = Array.from({ length: count }, (_, index) => String(index + 1))
      expect(describeDifferences(names).slice(-end.length)).to.equal(end)
    })
})

for (const [kind, prepare] of Object.entries(KINDS_AND_DRIVERS))
  describe(`a generated migration on ${kind}`, () => {
    const place = prepare()
    const folder = temporaryFolder()

    for (const [name, entities] of Object.entries({
      'every default': { Things },
      'the tables of users with own columns': extended,
      ...(bricks as Record<string, typeof auth>),
    }))
      it(`leaves no difference with ${name}, and its reversal leaves nothing`, async () => {
        const source = await place().open(entities)
        const migrations = createMigrations(source, { directory: join(folder(), name) })
        const missing = await schemaDifferences(source)
        await migrations.generate('first')
        await migrations.run()
        const again = await migrations.generate('again')
        expect(again?.up).to.equal(undefined)
        await migrations.revert()
        expect(await schemaDifferences(source)).to.deep.equal(missing)
      })

    it('adds the tables and columns of bricks later, and removes them again', async () => {
      const directory = join(folder(), 'later')
      for (const entities of [auth, extended, { ...all, ...extended }]) {
        const migrations = createMigrations(await place().open(entities), { directory })
        await migrations.generate('next')
        await migrations.run()
        expect(await migrations.generate('nothing')).to.equal(undefined)
      }
      for (const entities of [extended, auth]) {
        const source = await place().open(entities)
        await createMigrations(source, { directory }).revert()
        expect(await schemaDifferences(source)).to.eql([])
      }
    })

    it('has nothing to change where two entities share a table', async () => {
      const directory = join(folder(), 'shared')
      const first = createMigrations(await place().open({ Things }), { directory })
      await first.generate('first')
      await first.run()
      const Same = new EntitySchema({ name: 'same_things', tableName: 'things', columns })
      const shared = createMigrations(await place().open({ Things, Same }), { directory })
      expect(await shared.generate('nothing')).to.equal(undefined)
    })

    it('changes a column without changing its default, and its reversal restores both', async () => {
      const directory = join(folder(), 'changed')
      const first = createMigrations(await place().open({ Things }), { directory })
      await first.generate('first')
      await first.run()
      const longer = createMigrations(await place().open({ Longer }), { directory })
      await longer.generate('longer')
      await longer.run()
      await longer.revert()
      expect(await longer.status()).to.have.length(2)
      const source = await place().open({ Things })
      expect(await schemaDifferences(source)).to.eql([])
    })
  })
