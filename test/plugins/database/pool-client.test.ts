import { expect } from 'chai'
import { createDataSource, fromUrl } from '@mortar/database'
import { serverUrl } from '../../support/servers.ts'

interface Client {
  connect(): Promise<unknown>
  query(sql: string): Promise<{ readonly rows: readonly unknown[] }>
  end(): Promise<void>
}

/** The auth brick opens a connection beside the pool, with the class and the options of the pool. */
describe('the client class of the PostgreSQL pool', () => {
  const url = serverUrl('TEST_POSTGRES_URL')

  it('returns a promise from connect() without a callback', async () => {
    const dataSource = createDataSource(fromUrl(url))
    await dataSource.initialize()
    try {
      const { master } = dataSource.driver as unknown as {
        master: { options: object; Client: new (options: object) => Client }
      }
      const client = new master.Client(master.options)
      await client.connect()
      expect((await client.query('select 1 as one')).rows).to.deep.equal([{ one: 1 }])
      await client.end()
    } finally {
      await dataSource.destroy()
    }
  })

  it('rejects that promise when the server cannot be reached', async () => {
    const dataSource = createDataSource(fromUrl(url))
    await dataSource.initialize()
    try {
      const { master } = dataSource.driver as unknown as {
        master: { options: object; Client: new (options: object) => Client }
      }
      const client = new master.Client({ ...master.options, port: 1 })
      const error: unknown = await client.connect().catch((reason: unknown) => reason)
      expect(error).to.be.instanceOf(Error)
    } finally {
      await dataSource.destroy()
    }
  })
})
