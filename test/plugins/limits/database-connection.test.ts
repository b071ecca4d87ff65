import { once } from 'node:events'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import Sqlite from 'better-sqlite3'
import { expect } from 'chai'
import type { Cradle, Logger } from 'mortar'
import { sideConnections } from '../../../plugins/database/connections/side-connections.ts'
import { createDatabaseStore } from '../../../plugins/limits/database/database-store.ts'
import { sqliteCounters } from '../../../plugins/limits/database/sqlite-counters.ts'

const failure = async (work: Promise<unknown>): Promise<string> => {
  try {
    await work
  } catch (error) {
    return (error as Error).message
  }
  throw new Error('It did not fail.')
}

describe('the store of the limits at the start', () => {
  function storeOf(connect: () => Promise<void>) {
    const warnings: unknown[] = []
    const nothing = (): void => undefined
    const logger: Logger = {
      debug: nothing,
      info: nothing,
      warn: (...given: unknown[]) => void warnings.push(given),
      error: nothing,
      child: () => logger,
    }
    class Client {
      on(): void {}
      connect = connect
      end = async (): Promise<void> => undefined
      query = (): Promise<never> =>
        Promise.reject(Object.assign(new Error('relation "mortar_limits" does not exist'), { code: '42P01' }))
    }
    const db = { options: { type: 'postgres' }, driver: { master: { options: {}, Client } } }
    return { store: createDatabaseStore({ db, sideConnections, logger } as unknown as Cradle)!, warnings }
  }

  it('counts in each kind of database that several processes share, and refuses others', async () => {
    const kindOf = (options: object): string => {
      const db = { options, driver: { master: { options: {} } } }
      const store = createDatabaseStore({ db, sideConnections } as unknown as Cradle)
      return store === undefined ? 'memory' : 'shared'
    }
    for (const type of ['postgres', 'mysql', 'mariadb']) expect(kindOf({ type }), type).to.equal('shared')
    for (const [file, kind] of [
      ['app.db', 'shared'],
      [':memory:', 'memory'],
      ['', 'memory'],
      [undefined, 'memory'],
    ] as const)
      expect(kindOf({ type: 'better-sqlite3', database: file }), file).to.equal(kind)
    for (const type of ['sqljs', 'mssql', 'toString'])
      expect(await failure((async () => kindOf({ type }))())).to.contain(`a database of the type '${type}'`)
  })

  it('logs that the database is away, and does not stop the start', async () => {
    const { store, warnings } = storeOf(() => Promise.reject(new Error('down')))
    await store.open!()
    store.close!()
    expect(warnings).to.deep.equal([
      [{ brick: 'limits' }, 'The limits cannot open their connection to the database'],
    ])
  })

  it('leaves no clean-up behind', async () => {
    const { setTimeout: set, clearTimeout: clear } = globalThis
    const left = new Set<unknown>()
    const { store } = storeOf(() => Promise.reject(new Error('down')))
    Object.assign(globalThis, {
      setTimeout: (run: () => void, delay: number) => {
        const timer = set(run, delay)
        if (delay >= 30_000) left.add(timer)
        return timer
      },
      clearTimeout: (timer: NodeJS.Timeout) => {
        left.delete(timer)
        clear(timer)
      },
    })
    try {
      await store.open!()
      expect(left.size).to.equal(1)
      store.close!()
      expect(left.size).to.equal(0)
    } finally {
      Object.assign(globalThis, { setTimeout: set, clearTimeout: clear })
    }
  })

  it('stops the start without a table', async () => {
    const { store, warnings } = storeOf(async () => undefined)
    expect(await failure(store.open!())).to.contain("no table 'mortar_limits'")
    expect(warnings).to.deep.equal([])
  })
})

describe('the file of the limits on SQLite', () => {
  let folder: string
  beforeEach(async () => {
    folder = await mkdtemp(join(tmpdir(), 'mortar-limits-'))
  })
  afterEach(() => rm(folder, { recursive: true }))

  it('is waited for while another process writes to it, without a lost count', async () => {
    const database = join(folder, 'app.db')
    const source = {
      options: { type: 'better-sqlite3', database },
      driver: { sqlite: Sqlite },
    }
    const counters = sqliteCounters(source, sideConnections)!
    const count = async () => (await counters.count([{ key: 'a', window: 60, requests: 1 }]))[0]!.consumed
    expect(await count()).to.equal(1)
    const other = new Sqlite(`${database}.limits`)
    other.exec('BEGIN IMMEDIATE')
    const counted = count()
    const free = new AbortController()
    setImmediate(() => setImmediate(() => free.abort()))
    await once(free.signal, 'abort')
    other.exec('COMMIT')
    other.close()
    expect(await counted).to.equal(2)
    counters.disconnect()
  })

  it('is given up after a second in which another process writes to it, and no attempt leaves it open', async () => {
    const database = join(folder, 'app.db')
    const opened: Sqlite.Database[] = []
    class Kept extends Sqlite {
      constructor(...given: ConstructorParameters<typeof Sqlite>) {
        super(...given)
        opened.push(this)
      }
    }
    const source = { options: { type: 'better-sqlite3', database }, driver: { sqlite: Kept } }
    const other = new Sqlite(`${database}.limits`)
    other.exec('BEGIN EXCLUSIVE')
    const real = performance.now
    let ahead = 0
    // Each look at the time is a tenth of a second later.
    performance.now = () => real.call(performance) + 100 * ahead++
    const enough = new Error('The file is still waited for.')
    const counters = sqliteCounters(source, {
      ...sideConnections,
      openFile: (...given) => {
        if (opened.length === 20) throw enough
        return sideConnections.openFile(...given)
      },
    })!
    try {
      expect(await failure(counters.prepare())).to.equal('database is locked')
    } finally {
      performance.now = real
      other.close()
    }
    expect(opened).to.have.length.above(1)
    expect(opened.filter(({ open }) => open)).to.deep.equal([])
  })
})
