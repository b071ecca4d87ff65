import { setImmediate as turn } from 'node:timers/promises'
import { expect } from 'chai'
import { DataSource } from 'typeorm'
import { describeDatabase } from '../../../plugins/database/describe-database.ts'

const sourceOf = (database = ':memory:') => new DataSource({ type: 'better-sqlite3', database })

describe('A connection of several checks', () => {
  it('is open for each of them, whenever they begin and end, and closed after the last', async () => {
    const db = sourceOf()
    const { connected } = describeDatabase(db)
    let sum = 0
    const check = async (turns: number) => {
      for (let count = 0; count < turns; count++) await turn()
      return connected(async () => {
        await turn()
        sum += (await db.query<[{ one: number }]>('select 1 as one'))[0].one
      })
    }
    await Promise.all(Array.from({ length: 30 }, (_, turns) => check(turns)))
    expect(sum).to.equal(30)
    expect(db.isInitialized).to.equal(false)
  })

  it('is opened again for a check that begins while the last one closes it slowly', async () => {
    const db = sourceOf()
    const { connected } = describeDatabase(db)
    const destroy = db.destroy.bind(db)
    let next: Promise<unknown> = Promise.resolve()
    db.destroy = async () => {
      next = connected(async () => {
        for (let turns = 0; turns < 5; turns++) await turn()
        return db.query('select 1 as one')
      })
      await turn()
      db.destroy = destroy
      return destroy()
    }
    await connected(async () => undefined)
    expect(await next).to.deep.equal([{ one: 1 }])
  })

  it('stays open if it was open before, and a failed one leaves the next alone', async () => {
    const open = await sourceOf().initialize()
    await describeDatabase(open).connected(async () => undefined)
    expect(open.isInitialized).to.equal(true)
    await open.destroy()
    const { connected } = describeDatabase(sourceOf('/dev/null/app.db'))
    for (let count = 0; count < 2; count++)
      expect(await connected(async () => 'open').catch(() => 'failed')).to.equal('failed')
  })
})
