import { expect } from 'chai'
import { EntitySchema } from 'typeorm'
import { createApp, type DoctorFinding } from 'mortar'
import { database } from '@mortar/database'
import { KINDS } from './databases.ts'

const notes = new EntitySchema<{ id: number; tags: { id: number }[] }>({
  name: 'notes',
  columns: { id: { type: Number, primary: true } },
  relations: { tags: { type: 'many-to-many', target: 'tags', joinTable: { name: 'notes_tags' } } },
})
const tags = new EntitySchema<{ id: number }>({
  name: 'tags',
  columns: { id: { type: Number, primary: true } },
})

describe('The doctor of database()', () => {
  for (const [kind, prepare] of Object.entries(KINDS))
    describe(`on ${kind}`, () => {
      const place = prepare()

      it('notes the tables that no entity describes, and no table of entities and migrations', async () => {
        const unprepared = await place().open([notes, tags])
        await unprepared.synchronize()
        await unprepared.destroy()
        const brick = database(place().options([notes, tags]), {
          migrations: [],
          pendingMigrations: 'ignore',
        })
        const findings = async (): Promise<readonly DoctorFinding[]> => {
          const app = createApp().use(brick)
          const { services } = await app.inspect()
          return brick.doctor!(services as never)
        }
        expect((await findings()).map(({ code }) => code)).to.deep.equal([])
        const source = await place().open()
        const { schema } = source.options as { readonly schema?: string }
        const create = (name: string) =>
          source.query(`create table ${schema ? `${schema}.` : ''}${name} (id integer)`)
        for (const name of ['old_notes', 'sqlite3_dumps']) await create(name)
        const [found, ...others] = await findings()
        expect(others).to.deep.equal([])
        expect(found).to.deep.include({ level: 'note', code: 'MORTAR_DOCTOR_UNKNOWN_TABLES' })
        expect(found!.found).to.equal(
          'The database has tables that no entity describes: old_notes, sqlite3_dumps.',
        )
        for (let number = 10; number < 30; number++) await create(`t${number}`)
        await source.destroy()
        expect((await findings())[0]!.found).to.match(/old_notes, sqlite3_dumps, t10,.*, t27 and 2 more\.$/)
      })

      if (kind === 'MariaDB')
        it('warns of a database whose new tables cannot store every character', async () => {
          const source = await place().open([tags])
          await source.query('alter database character set latin1')
          await source.destroy()
          const options = { migrations: [], pendingMigrations: 'ignore' } as const
          const brick = database(place().options([tags]), options)
          const { services } = await createApp().use(brick).inspect()
          const [found] = await brick.doctor!(services as never)
          expect(found).to.deep.include({ level: 'warning', code: 'MORTAR_DOCTOR_SCHEMA' })
          expect(found!.found).to.contain('latin1')
        })
    })
})
