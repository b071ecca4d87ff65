import { expect } from 'chai'
import type { DataSource } from 'typeorm'
import { insert, openPlain, texts } from './notes.ts'
import { outcomes, slowTransaction } from './slow-transaction.ts'

/** The faults of TypeORM alone. If one of these tests fails, TypeORM may have fixed the fault. */
describe('transactions of TypeORM on better-sqlite3 without the gate', () => {
  let dataSource: DataSource
  beforeEach(async () => {
    dataSource = await openPlain()
  })
  afterEach(() => dataSource.destroy())

  it('lose a write that another caller saw succeed', async () => {
    const transaction = slowTransaction(dataSource, 'a', 'roll back')
    await Promise.resolve()
    const write = insert(dataSource.manager, 'b')
    expect(await outcomes([transaction, write])).to.eql(['rejected', 'fulfilled'])
    expect(await texts(dataSource)).to.eql([])
  })

  it('nest in each other, so that a rollback also undoes a committed one', async () => {
    const first = slowTransaction(dataSource, 'a', 'roll back')
    await insert(dataSource.manager, 'x')
    const second = dataSource.transaction((manager) => insert(manager, 'b'))
    expect(await outcomes([first, second])).to.eql(['rejected', 'fulfilled'])
    expect(await texts(dataSource)).to.eql([])
  })

  it('fail when twenty begin together', async () => {
    const all = Array.from({ length: 20 }, (_, i) => slowTransaction(dataSource, String(i), 'commit'))
    expect(await outcomes(all)).not.to.include('fulfilled')
  })
})
