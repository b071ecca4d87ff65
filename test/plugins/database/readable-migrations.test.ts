import { expect } from 'chai'
import { EntitySchema } from 'typeorm'
import { createDataSource, createMigrations } from '@mortar/database'
import { temporaryFolder } from './notes.ts'

const Owners = new EntitySchema({
  name: 'owners',
  columns: { id: { type: String, primary: true }, email: { type: String, unique: true } },
})

const Pets = new EntitySchema({
  name: 'pets',
  columns: { id: { type: String, primary: true }, owner_id: { type: String } },
  foreignKeys: [{ target: 'owners', columnNames: ['owner_id'], referencedColumnNames: ['id'] }],
  indices: [{ columns: ['owner_id'] }],
})

describe('a migration for SQLite', () => {
  const folder = temporaryFolder()

  it('makes what the entities describe, and leaves nothing when it is reverted', async () => {
    const options = { type: 'better-sqlite3', database: ':memory:' } as const
    const source = await createDataSource({ ...options, entities: { Owners, Pets } }).initialize()
    const migrations = createMigrations(source, { directory: folder() })
    const made = await migrations.generate('init')
    expect(made?.up.some(({ query }) => query.includes('FOREIGN KEY'))).to.equal(true)
    await migrations.run()
    expect(await migrations.generate('nothing')).to.equal(undefined)
    await migrations.revert()
    expect(await source.query(`select name from sqlite_master where name in ('owners', 'pets')`)).to.eql([])
    await source.destroy()
  })
})
