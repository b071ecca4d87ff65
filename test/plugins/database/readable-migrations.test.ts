import { expect } from 'chai'
import { EntitySchema } from 'typeorm'
import { createDataSource, createMigrations } from '../../../plugins/database/index.ts'
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

  it('makes each new table in one statement, and drops it in one', async () => {
    const options = { type: 'better-sqlite3', database: ':memory:' } as const
    const source = await createDataSource({ ...options, entities: { Owners, Pets } }).initialize()
    const migrations = createMigrations(source, { directory: folder() })
    const made = await migrations.generate('init')
    const starts = (statements: readonly { readonly query: string }[] = []) =>
      statements.map(({ query }) => query.replaceAll(/"(IDX_\w+)"/g, 'x').replace(/ (ON|\().*/, ''))
    expect(starts(made?.up)).to.deep.equal(['CREATE TABLE "owners"', 'CREATE TABLE "pets"', 'CREATE INDEX x'])
    expect(starts(made?.down)).to.deep.equal(['DROP INDEX x', 'DROP TABLE "pets"', 'DROP TABLE "owners"'])
    expect(made?.up[1]?.query).to.include('FOREIGN KEY')
    // The statements make what the entities describe, and nothing remains after them.
    await migrations.run()
    expect(await migrations.generate('nothing')).to.equal(undefined)
    await migrations.revert()
    expect(await source.query(`select name from sqlite_master where name in ('owners', 'pets')`)).to.eql([])
    await source.destroy()
  })
})
