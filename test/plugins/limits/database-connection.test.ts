import { once } from 'node:events'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import Sqlite from 'better-sqlite3'
import { expect } from 'chai'
import type { Cradle, Logger } from 'mortar'
import type { DataSourceLike } from '../../../plugins/limits/compat/data-source.ts'
import { createDatabaseStore } from '../../../plugins/limits/database/database-store.ts'
import { reconnecting, type Link } from '../../../plugins/limits/database/link.ts'
import { postgresCounters } from '../../../plugins/limits/database/postgres-counters.ts'
import { sqliteCounters } from '../../../plugins/limits/database/sqlite-counters.ts'

/** A connection whose statements fail with the given codes first. */
function failing(...codes: string[]) {
  const log: string[] = []
  let lose: () => void = () => {}
  const { query, disconnect } = reconnecting((onLost): Link => {
    log.push('open')
    lose = onLost
    return {
      async run(sql) {
        log.push(sql)
        const code = codes.shift()
        if (code !== undefined) throw Object.assign(new Error(code), { code })
        return 'done'
      },
      destroy: () => void log.push('destroy'),
    }
  })
  return { log, query, disconnect, lose: () => lose() }
}

const failure = async (work: Promise<unknown>): Promise<string> => {
  try {
    await work
  } catch (error) {
    return (error as Error).message
  }
  throw new Error('It did not fail.')
}

describe('the connection of the limits to a server', () => {
  for (const code of ['ER_LOCK_DEADLOCK', '40P01', '40001'])
    it(`sends a statement again that the server has rolled back (${code})`, async () => {
      const { log, query } = failing(code, code, code, code)
      expect(await query('count')).to.equal('done')
      expect(log).to.deep.equal(['open', 'count', 'count', 'count', 'count', 'count'])
    })

  it('gives up after five tries', async () => {
    const { log, query } = failing('40P01', '40P01', '40P01', '40P01', '40P01')
    expect(await failure(query('count'))).to.equal('40P01')
    expect(log.filter((entry) => entry === 'count')).to.have.lengthOf(5)
  })

  it('is closed after another failure, and opens again with the next statement', async () => {
    const { log, query } = failing('42P01')
    expect(await failure(query('one'))).to.equal('42P01')
    await query('two')
    await query('three')
    expect(log).to.deep.equal(['open', 'one', 'destroy', 'open', 'two', 'three'])
  })

  it('opens again after a loss, and after its end', async () => {
    const { log, query, lose, disconnect } = failing()
    await query('one')
    lose()
    await query('two')
    disconnect()
    await query('three')
    expect(log).to.deep.equal(['open', 'one', 'open', 'two', 'destroy', 'open', 'three'])
  })

  it('connects with the password that the pool hides from enumeration', async () => {
    const seen: unknown[] = []
    class Client {
      constructor(options: { readonly password?: unknown; readonly host?: unknown }) {
        seen.push([options.host, options.password])
      }
      on(): void {}
      async connect(): Promise<void> {}
      async query(): Promise<{ rows: unknown[]; rowCount: number }> {
        return { rows: [], rowCount: 0 }
      }
    }
    const options = Object.defineProperty({ host: 'db' }, 'password', { value: 'secret', enumerable: false })
    await postgresCounters({
      options: { type: 'postgres' },
      driver: { master: { options, Client } },
    }).prepare()
    expect(seen).to.deep.equal([['db', 'secret']])
  })
})

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
      query = (): Promise<never> => Promise.reject(Object.assign(new Error('none'), { code: '42P01' }))
    }
    const db = { options: { type: 'postgres' }, driver: { master: { options: {}, Client } } }
    return { store: createDatabaseStore({ db, logger } as unknown as Cradle)!, warnings }
  }

  it('logs that the database is away, and does not stop the start', async () => {
    const { store, warnings } = storeOf(() => Promise.reject(new Error('down')))
    await store.open!()
    store.close!()
    expect(warnings).to.deep.equal([
      [{ brick: 'limits' }, 'The limits cannot open their connection to the database'],
    ])
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
    const source: DataSourceLike = {
      options: { type: 'better-sqlite3', database },
      driver: { sqlite: Sqlite },
    }
    const counters = sqliteCounters(source)!
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
})
