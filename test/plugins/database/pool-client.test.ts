import type { EventEmitter } from 'node:events'
import { mock } from 'node:test'
import { expect } from 'chai'
import { type ConnectionOptions, createDataSource, fromUrl } from '@mortar/database'
import { watchConnections } from '../../../plugins/database/connections/watch-connections.ts'
import { serverUrl } from '../../support/servers.ts'
import { faultyNetwork } from './faulty-network.ts'

/** The last message of a server that stops. */
const FATAL = 'SFATAL\0VFATAL\0C57P01\0Mterminating connection due to administrator command\0\0'

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

  it('lends a connection that ends in the packet with a response without an uncaught error', async () => {
    const { hostname, port } = new URL(url)
    const network = await faultyNetwork({ host: hostname, port: Number(port) })
    const options = { ...fromUrl(url), port: network.port, poolSize: 1 } as ConnectionOptions
    const dataSource = createDataSource(options)
    await dataSource.initialize()
    const { master } = dataSource.driver as unknown as { master: Pick<Client, 'query'> }
    const ask = () => master.query('select 1 as one')
    try {
      const length = Buffer.alloc(4)
      length.writeInt32BE(FATAL.length + 4)
      network.append(Buffer.concat([Buffer.from('E'), length, Buffer.from(FATAL)]))
      const [first, waiting] = await Promise.allSettled([ask(), dataSource.query('select 1')])
      expect(first).to.include({ status: 'fulfilled' })
      expect(waiting).to.include({ status: 'rejected' })
      expect((await ask()).rows).to.deep.equal([{ one: 1 }])
    } finally {
      await dataSource.destroy()
      await network.close()
    }
  })

  it('has the options of the application before the defaults of the brick', async () => {
    const read = async (extra: object): Promise<unknown> => {
      const dataSource = createDataSource({ ...fromUrl(url), extra })
      watchConnections(dataSource, { statementTimeout: '3s' })
      await dataSource.initialize()
      const { options } = (dataSource.driver as unknown as { master: { options: object } }).master
      const [row] = await dataSource.query('show statement_timeout')
      await dataSource.destroy()
      return { ...row, keepAlive: (options as { keepAlive?: unknown }).keepAlive }
    }
    expect(await read({})).to.deep.equal({ statement_timeout: '3s', keepAlive: true })
    const own = { statement_timeout: 7000, keepAlive: false }
    expect(await read(own)).to.deep.equal({ statement_timeout: '7s', keepAlive: false })
  })

  it('replaces a new connection whose session the server ends', async () => {
    const dataSource = createDataSource(fromUrl(url))
    await dataSource.initialize()
    // The first connection is in use, so the next one is new.
    const runners = [dataSource.createQueryRunner(), dataSource.createQueryRunner()]
    try {
      await runners[0]!.connect()
      const { master } = dataSource.driver as unknown as { master: EventEmitter }
      const query = mock.fn(() =>
        Promise.reject(Object.assign(new Error('terminating connection'), { code: '57P01' })),
      )
      master.once('connect', (client: Client) => Object.assign(client, { query }))
      const rows: unknown = await runners[1]!.query('select 1 as one').catch(String)
      expect(rows).to.deep.equal([{ one: 1 }])
      expect(query.mock.callCount()).to.equal(1)
    } finally {
      for (const runner of runners) await runner.release()
      await dataSource.destroy()
    }
  })
})
