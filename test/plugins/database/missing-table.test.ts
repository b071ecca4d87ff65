import { expect } from 'chai'
import type { DataSource } from 'typeorm'
import { createApp, createRouter, type Logger } from '../../../src/index.ts'
import { database, missingTable } from '../../../plugins/database/index.ts'
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

describe('a handler that queries a missing table', () => {
  for (const [environment, detail] of [
    ['development', /^no such table: notes\. Export its EntitySchema .* migrat/],
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
