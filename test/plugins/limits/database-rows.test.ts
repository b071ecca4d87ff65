import { setTimeout as wait } from 'node:timers/promises'
import { expect } from 'chai'
import type { DataSource } from 'typeorm'
import * as schema from '@mortar/limits/schema'
import { sideConnections } from '../../../plugins/database/connections/side-connections.ts'
import { cleanRegularly } from '../../../plugins/limits/database/clean-regularly.ts'
import { inWindow } from '../../../plugins/limits/database/counted-rows.ts'
import type { DatabaseCounters, MakeCounters } from '../../../plugins/limits/database/database-counters.ts'
import { mysqlCounters } from '../../../plugins/limits/database/mysql-counters.ts'
import { postgresCounters } from '../../../plugins/limits/database/postgres-counters.ts'
import { sqliteCounters } from '../../../plugins/limits/database/sqlite-counters.ts'
import { deferred } from '../../support/deferred.ts'
import { KINDS } from '../database/databases.ts'

const MAKERS: Readonly<Record<string, MakeCounters>> = {
  SQLite: sqliteCounters,
  PostgreSQL: postgresCounters,
  MariaDB: mysqlCounters,
}
const SHORT = 1
const LONG = 3600

async function count(counters: DatabaseCounters, key: string, window: number, requests = 1): Promise<number> {
  return (await counters.count([{ key, window, requests }]))[0]!.consumed
}

for (const [kind, places] of Object.entries(KINDS))
  describe(`expired counts in the database (${kind})`, () => {
    const place = places()
    let counters: DatabaseCounters
    let source: DataSource

    beforeEach(async () => {
      source = await place().open(schema)
      await source.synchronize()
      counters = MAKERS[kind]!(source, sideConnections)!
      await counters.prepare()
    })
    afterEach(() => counters.disconnect())

    it('are deleted, at most as many as asked for; current counts stay', async () => {
      for (const key of ['a', 'b', 'c']) await count(counters, key, SHORT)
      const begin = Date.now()
      await count(counters, 'long', LONG, 7)
      expect(await counters.deleteExpired(Date.now() - 60_000, 10)).to.equal(0)
      const later = Date.now() + 60_000
      expect(await counters.deleteExpired(later, 2)).to.equal(2)
      expect(await counters.deleteExpired(later, 2)).to.equal(1)
      expect(await counters.deleteExpired(begin + LONG * 1000 - 1, 2)).to.equal(0)
      expect(await count(counters, 'long', LONG)).to.equal(8)
    })

    it('begin again at one, and are not read', async () => {
      const [SOON, key] = [0.001, 'soon']
      expect(await count(counters, key, SOON, 3)).to.equal(3)
      await wait(5)
      expect(await counters.read(key)).to.equal(undefined)
      expect(await count(counters, key, LONG)).to.equal(1)
      expect(await counters.read(key)).to.include({ consumed: 1 })
    })

    it('are not read any more from the end of their window on', () => {
      const rows = [{ key: 'a', points: 3, expire: 1000 }]
      expect(inWindow(rows, 999)).to.deep.equal({ consumed: 3, resetIn: 1 })
      expect(inWindow(rows, 1000)).to.equal(undefined)
    })

    it('are given back to zero and no further, also over another connection', async () => {
      expect(await count(counters, 'a', LONG)).to.equal(1)
      counters.reset?.()
      for (let time = 0; time < 2; time++) await counters.giveBack('a', LONG)
      expect(await count(counters, 'a', LONG)).to.equal(1)
    })

    it('keep the end of their window while they are counted again', async () => {
      const resetIn = async () =>
        (await counters.count([{ key: 'a', window: LONG, requests: 1 }]))[0]!.resetIn
      const first = await resetIn()
      await wait(20)
      expect(await resetIn()).to.be.below(first - 15)
    })

    it('are of a clock that was ahead if they end in more than two windows, and begin again', async () => {
      const KEY = 'a'
      await count(counters, KEY, 1.5 * LONG, 7)
      // The clocks of two machines differ.
      expect(await count(counters, KEY, LONG)).to.equal(8)
      await counters.clear(KEY)
      await count(counters, KEY, 24 * LONG, 7)
      const [first] = await counters.count([{ key: KEY, window: LONG, requests: 1 }])
      expect(first).to.deep.equal({ consumed: 1, resetIn: LONG * 1000 })
      expect(await count(counters, KEY, LONG)).to.equal(2)
    })

    it('are counted in any order by several connections at a time', async () => {
      const other = MAKERS[kind]!(source, sideConnections)!
      const keys = Array.from({ length: 2000 }, (_, number) => ({
        key: `key ${number}`,
        window: LONG,
        requests: 1,
      }))
      for (let round = 0; round < 2; round++)
        await Promise.all([counters.count(keys), other.count(keys.toReversed())])
      other.disconnect()
      expect((await counters.count(keys)).map(({ consumed }) => consumed)).to.deep.equal(keys.map(() => 5))
    })

    if (kind === 'SQLite')
      it('are in a file that is opened again after a failure', async () => {
        const files: { readonly open: boolean }[] = []
        const openFile: typeof sideConnections.openFile = (...given) => {
          const file = sideConnections.openFile(...given)
          files.push(file as (typeof files)[number])
          return file
        }
        const own = sqliteCounters(source, { ...sideConnections, openFile })!
        expect(await count(own, 'a', LONG)).to.equal(1)
        own.reset!()
        expect(files.map(({ open }) => open)).to.deep.equal([false])
        expect(await count(own, 'a', LONG)).to.equal(2)
        own.disconnect()
        expect(files.map(({ open }) => open)).to.deep.equal([false, false])
      })

    if (kind === 'PostgreSQL')
      it('are deleted without the rows that are locked', async () => {
        for (const key of ['locked', 'free']) await count(counters, key, SHORT)
        const holder = source.createQueryRunner()
        await holder.startTransaction()
        await holder.query(
          `SELECT key FROM ${source.entityMetadatas[0]!.tablePath} WHERE key = 'locked' FOR UPDATE`,
        )
        const deleted = counters.deleteExpired(Date.now() + 60_000, 10)
        const first = await Promise.race([deleted, wait(2000, 'late')])
        await holder.rollbackTransaction()
        await holder.release()
        expect(first).to.equal(1)
      })
  })

describe('the regular clean-up of counts', () => {
  /** Rows that can be deleted in steps. */
  function rowsOf(left: number, failures = 0) {
    const rows = { left, calls: 0, deleteExpired }
    async function deleteExpired(_now: number, most: number): Promise<number> {
      rows.calls += 1
      if (rows.calls <= failures) throw new Error('The database is away.')
      const deleted = Math.min(most, rows.left)
      rows.left -= deleted
      return deleted
    }
    return rows
  }
  const empty = async (rows: { readonly left: number }): Promise<void> => {
    while (rows.left > 0) await wait(5)
  }

  it('deletes everything in steps, and continues soon if one clean-up was not enough', async () => {
    const rows = rowsOf(50_500)
    const real = globalThis.setTimeout
    const delays: number[] = []
    globalThis.setTimeout = ((run: () => void, delay: number) =>
      real(run, delays.push(delay) && rows.left > 0 ? 0 : delay)) as unknown as typeof setTimeout
    const end = cleanRegularly(rows, 60_000)
    await empty(rows)
    end()
    globalThis.setTimeout = real
    expect(rows.calls).to.equal(51)
    expect(delays[0]).to.be.within(30_000, 60_000)
    expect(delays.slice(1, 3)).to.deep.equal([1000, 1000])
  })

  it('tries again after a failure', async () => {
    const rows = rowsOf(10, 2)
    const end = cleanRegularly(rows, 10)
    await empty(rows)
    end()
  })

  it('stops at its end, also in the middle of a clean-up', async () => {
    const [begun, deleted] = [deferred(), deferred<number>()]
    let calls = 0
    const deleteExpired = (_now: number, most: number): Promise<number> => {
      begun.resolve()
      return ++calls === 1 ? deleted.promise : Promise.resolve(most)
    }
    const end = cleanRegularly({ deleteExpired }, 10)
    await begun.promise
    end()
    deleted.resolve(1000)
    await wait(0)
    expect(calls).to.equal(1)
  })

  it('plans no other clean-up after its end', async () => {
    const PERIOD = 1.25
    const real = globalThis.setTimeout
    const delays: number[] = []
    globalThis.setTimeout = ((run: () => void, delay: number) => {
      delays.push(delay)
      return real(run, delay)
    }) as unknown as typeof setTimeout
    const [begun, deleted] = [deferred(), deferred<number>()]
    const deleteExpired = (): Promise<number> => {
      begun.resolve()
      return deleted.promise
    }
    const end = cleanRegularly({ deleteExpired }, PERIOD)
    await begun.promise
    end()
    deleted.resolve(0)
    await wait(0)
    globalThis.setTimeout = real
    expect(delays).to.not.include(PERIOD)
  })
})

describe('the connection of the limits to PostgreSQL', () => {
  it('runs one statement at a time, as pg 9 demands', async () => {
    let active = 0
    let most = 0
    const keys = Array.from({ length: 20 }, (_, number) => `key ${number}`)
    class Client {
      on(): void {}
      async connect(): Promise<void> {}
      async query(): Promise<{ rows: unknown[]; rowCount: number }> {
        most = Math.max(most, ++active)
        await wait(1)
        active -= 1
        return { rows: keys.map((key) => ({ key, points: 1, expire: Date.now() + 1000 })), rowCount: 1 }
      }
    }
    const source = { options: { type: 'postgres' }, driver: { master: { options: {}, Client } } }
    const counters = postgresCounters(source, sideConnections)!
    await Promise.all(keys.map((key) => count(counters, key, LONG)))
    expect(most).to.equal(1)
  })

  it('locks rows in the order of their keys', async () => {
    const sent: unknown[] = []
    class Client {
      on(): void {}
      async connect(): Promise<void> {}
      async query(...given: unknown[]): Promise<{ rows: unknown[]; rowCount: number }> {
        sent.push(given)
        return { rows: ['a', 'b'].map((key) => ({ key, points: 1, expire: Date.now() + 1000 })), rowCount: 2 }
      }
    }
    const source = { options: { type: 'postgres' }, driver: { master: { options: {}, Client } } }
    const counters = postgresCounters(source, sideConnections)!
    await counters.count(['b', 'a'].map((key) => ({ key, window: LONG, requests: 1 })))
    expect(JSON.stringify(sent.at(-1))).to.include('["a","b"]')
  })
})
