import { join } from 'node:path'
import { expect } from 'chai'
import { createDataSource, openDataSource } from '@mortar/database'
import { temporaryFolder } from './notes.ts'

describe('opening a SQLite file', () => {
  const folder = temporaryFolder()

  /** A DataSource whose first attempts fail with this code. */
  function failing(times: number, code: string) {
    const dataSource = createDataSource({ type: 'better-sqlite3', database: join(folder(), 'app.db') })
    const initialize = dataSource.initialize.bind(dataSource)
    let attempts = 0
    dataSource.initialize = () => {
      attempts += 1
      return attempts > times
        ? initialize()
        : Promise.reject(Object.assign(new Error('database is locked'), { code }))
    }
    return { dataSource, attempts: () => attempts }
  }

  it('is retried while another process turns on the write-ahead log', async () => {
    const { dataSource, attempts } = failing(2, 'SQLITE_BUSY_RECOVERY')
    expect(await openDataSource(dataSource)).to.equal(true)
    expect(attempts()).to.equal(3)
    await dataSource.destroy()
  })

  it('is not retried for any other reason', async () => {
    const { dataSource, attempts } = failing(1, 'SQLITE_CANTOPEN')
    const error = await openDataSource(dataSource).catch((failure: unknown) => failure)
    expect(error).to.include({ code: 'MORTAR_DATABASE_UNREACHABLE' })
    expect(attempts()).to.equal(1)
  })
})
