import { setTimeout as wait } from 'node:timers/promises'
import { expect } from 'chai'
import type { ConnectionOptions } from '@mortar/database'
import * as schema from '@mortar/limits/schema'
import { KINDS, type TestDatabase } from '../database/databases.ts'
import { needRedisServer, startRedis, type RedisServer } from '../../support/redis-server.ts'
import { startMembers, type Members } from './members.ts'
import { startProxy, type Proxy } from './proxy.ts'

const PROCESSES = 4
const EACH = 250
/** Requests of each process that are enough to tell one counter from four: 100 of 160 pass, or all. */
const FEW = 40
const ALL = { 200: 100, 429: PROCESSES * EACH - 100 }

/** The faults of the network that each server meets. `TEST_LIMITS_FAULTS=1` tests both on both; each takes many seconds. */
const EVERY: readonly ('cut' | 'silence')[] = ['cut', 'silence']
const FAULTS: Readonly<Record<string, typeof EVERY>> = process.env['TEST_LIMITS_FAULTS']
  ? { PostgreSQL: EVERY, MariaDB: EVERY }
  : { PostgreSQL: [], MariaDB: ['cut'] }

/** Never unlimited, never an error: each process may count alone once. */
function expectBounded(counts: Record<number, number>): void {
  expect(Object.keys(counts).filter((status) => !['200', '429'].includes(status))).to.deep.equal([])
  expect(counts[200]).to.be.within(1, 100 * (1 + PROCESSES))
}

function exactTests(members: () => Members): void {
  it('allow exactly 100 of 1,000 concurrent requests of four processes', async () => {
    expect(await members().storm('one', EACH)).to.deep.equal(ALL)
    expect(await members().storm('one', 5), 'and none later').to.deep.equal({ 429: 20 })
  })

  it('allow exactly 100 of each of 20 keys that all processes ask at the same time', async () => {
    expect(await members().storm('many', 1000, { keys: 20 })).to.deep.equal({ 200: 2000, 429: 2000 })
  })

  it('allow exactly 100 while a transaction of the application is open and rolled back', async () => {
    expect(await members().storm('two', EACH, { open: 0 })).to.deep.equal(ALL)
    expect(await members().storm('two', 5), 'and none later').to.deep.equal({ 429: 20 })
  })
}

for (const [kind, places] of Object.entries(KINDS))
  describe(`limits in the database of four processes (${kind})`, function () {
    this.timeout(300_000)
    const place = places('suite')
    let members: Members
    let proxy: Proxy | undefined

    before(async () => {
      const source = await place().open(schema)
      await source.synchronize()
      const { connection, opened } = await throughProxy(place())
      proxy = opened
      members = await startMembers(PROCESSES, { store: 'database', connection, timeout: '20s' })
    })
    after(async () => {
      await members?.stop()
      proxy?.close()
    })

    exactTests(() => members)

    for (const fault of FAULTS[kind] ?? [])
      it(`stay bounded when the network is ${fault === 'cut' ? 'cut' : 'silent'} half-way, and count together again`, async () => {
        const storm = members.storm(fault, EACH)
        await wait(10)
        proxy![fault]()
        expectBounded(await storm)
        expectBounded(await members.storm(`${fault}-later`, EACH))
        proxy!.heal()
        await untilExact(members, fault)
      })
  })

/** A server's connection goes through a proxy that the test can cut. */
async function throughProxy(place: TestDatabase): Promise<{ connection: ConnectionOptions; opened?: Proxy }> {
  const connection = place.options()
  if (connection.type === 'better-sqlite3') return { connection }
  const { url, host = '127.0.0.1', port } = connection as { url?: string; host?: string; port?: number }
  const target = url === undefined ? { hostname: host, port: String(port ?? '') } : new URL(url)
  const standard = connection.type === 'postgres' ? 5432 : 3306
  const opened = await startProxy(target.hostname, Number(target.port || standard))
  const address = { host: '127.0.0.1', port: opened.port }
  if (url === undefined) return { connection: { ...connection, ...address } as ConnectionOptions, opened }
  const moved = new URL(url)
  moved.host = `127.0.0.1:${opened.port}`
  return { connection: { ...connection, url: moved.href } as ConnectionOptions, opened }
}

/** The pause after a failure is five seconds, and each process begins its own. */
async function untilExact(members: Members, name: string): Promise<void> {
  for (let round = 0; ; round++) {
    const counts = await members.storm(`${name}-healed-${round}`, FEW)
    if (counts[200] === 100) return
    expectBounded(counts)
    await wait(500)
  }
}

describe('limits in Redis of four processes', function () {
  this.timeout(300_000)
  needRedisServer()
  let server: RedisServer
  let members: Members

  before(async () => {
    server = await startRedis()
    members = await startMembers(PROCESSES, { store: 'redis', redis: server.url, timeout: '20s' })
  })
  after(async () => {
    await members?.stop()
    await server?.stop()
  })

  exactTests(() => members)

  it('stay bounded when the server ends half-way, and count together again', async () => {
    const storm = members.storm('stopped', EACH)
    await wait(10)
    await server.stop()
    expectBounded(await storm)
    expectBounded(await members.storm('stopped-later', EACH))
    await server.start()
    await untilExact(members, 'stopped')
  })
})
