import { expect } from 'chai'
import { type DataSource, EntitySchema } from 'typeorm'
import { createApp, createRouter, type Logger } from 'mortar'
import { database, missingColumn, missingTable } from '@mortar/database'
import { schemaDifferences } from '../../../plugins/database/migrations/schema-differences.ts'
import { KINDS_AND_DRIVERS } from './databases.ts'
import { Notes } from './notes.ts'

for (const [kind, prepare] of Object.entries(KINDS_AND_DRIVERS))
  describe(`missingTable on ${kind}`, () => {
    const place = prepare()

    it('names the table of a registered entity, of a raw query and of an unregistered one', async () => {
      const source = await place().open([Notes])
      const queries = [
        source.manager.find(Notes),
        source.query('select * from notes'),
        source.createQueryBuilder().update('notes').set({ text: 'x' }).execute(),
      ]
      const outcomes = await Promise.allSettled(queries)
      expect(outcomes.map((outcome) => outcome.status === 'rejected' && missingTable(outcome.reason))).to.eql(
        ['notes', 'notes', 'notes'],
      )
    })

    it('names the column of a registered entity and of raw queries, with its table where the database names it', async () => {
      const source = await place().open([Notes])
      const table = await createOlder(source)
      const queries = [
        source.manager.find(Notes),
        source.query(`select n.nothing_such from ${table} n`),
        source.query(`insert into ${table} (id, nothing_such) values ('1', 2)`),
        source.query('selekt'),
      ]
      const outcomes = await Promise.allSettled(queries)
      const found = outcomes.map((outcome) => outcome.status === 'rejected' && missingColumn(outcome.reason))
      expect(found[0]).to.match(/^(?:Notes|notes)\.\w+$/)
      expect(found[1]).to.equal('n.nothing_such')
      expect(found[2]).to.match(/^(?:notes\.)?nothing_such$/)
      expect(found[3]).to.equal(undefined)
      expect(outcomes.map((outcome) => outcome.status === 'rejected' && missingTable(outcome.reason))).to.eql(
        [undefined, undefined, undefined, undefined],
      )
    })

    it('lists the missing and unknown columns and tables of a database that differs from its entities', async () => {
      const source = await place().open([Notes])
      expect(await schemaDifferences(source)).to.eql(['the table notes is missing'])
      const table = await createOlder(source)
      const differences = await schemaDifferences(source)
      expect(differences).to.include('the column notes.ghost is not in the schema')
      expect(differences).to.include('the column notes.text is missing')
      await source.query(`drop table ${table}`)
      await source.synchronize()
      expect(await schemaDifferences(source)).to.eql([])
      await source.query(`create index ghost_index on ${table} (id)`)
      expect(await schemaDifferences(source)).to.have.length(1)
    })

    it('leaves out views, and tables that the application manages itself', async () => {
      const Own = new EntitySchema({
        name: 'own',
        columns: { id: { type: Number, primary: true } },
        synchronize: false,
      })
      const Ids = new EntitySchema({
        name: 'ids',
        type: 'view',
        expression: (from) => from.createQueryBuilder().select('note.id', 'id').from(Notes, 'note'),
        columns: { id: { type: String } },
      })
      const source = await place().open([Notes, Own, Ids])
      await source.synchronize()
      expect(await source.manager.find(Ids)).to.eql([])
      expect(await schemaDifferences(source)).to.eql([])
    })

    it('returns nothing for any other error', async () => {
      const source = await place().open([Notes])
      await source.synchronize()
      const outcomes = await Promise.allSettled([
        source.createQueryBuilder().select('nothing_such').from(Notes, 'note').getRawMany(),
        source.query('selekt'),
        source.manager.insert(Notes, {}),
      ])
      expect(outcomes.map((outcome) => outcome.status === 'rejected' && missingTable(outcome.reason))).to.eql(
        [undefined, undefined, undefined],
      )
    })
  })

/** Makes the table of an earlier version. Returns its name with its schema. */
async function createOlder(source: DataSource): Promise<string> {
  const table = source.getMetadata(Notes).tablePath
  await source.query(`create table ${table} (id varchar(36) primary key, ghost integer)`)
  return table
}

describe('a handler that queries a missing table', () => {
  for (const [environment, detail] of [
    [
      'development',
      /^no such table: notes\. Run the pending migrations .* export its EntitySchema .* migrat/,
    ],
    ['production', /^(?!.*notes)/],
  ] as const)
    it(`responds with 500 ${environment === 'production' ? 'and no detail' : 'and the remedy'} in ${environment}`, async () => {
      const router = createRouter()
      router.get('/notes', (ctx) => (ctx['db'] as DataSource).query('select * from notes'))
      const app = createApp({ environment, logger: silent })
        .use(database({ type: 'better-sqlite3', database: ':memory:' }))
        .use(router)
      const response = await app.inject({ method: 'GET', url: '/notes' })
      expect(response.statusCode).to.equal(500)
      expect(response.json().detail).to.match(detail)
      await app.close()
    })

  it('is found in every language of a server', () => {
    const messages = {
      '42P01': [
        'relation "public.notes" does not exist',
        'Relation »notes« existiert nicht',
        'la relation « notes » n’existe pas',
        'отношение "notes" не существует',
      ],
      ER_NO_SUCH_TABLE: ["Table 'app.notes' doesn't exist", "Tabelle 'app.notes' existiert nicht"],
    }
    for (const [code, texts] of Object.entries(messages))
      for (const text of texts)
        expect(missingTable(Object.assign(new Error(text), { code })), text).to.equal('notes')
  })

  it('reports nothing about an error that is not from a driver', () => {
    for (const value of [undefined, null, 'no such table: notes', new Error('no such table: notes'), {}])
      expect(missingTable(value)).to.equal(undefined)
  })
})

const silent = {
  debug() {},
  info() {},
  warn() {},
  error() {},
  child: () => silent,
} as Logger
