import { mock } from 'node:test'
import { setImmediate as nextTurn } from 'node:timers/promises'
import { expect } from 'chai'
import { deferred } from '../../support/deferred.ts'
import {
  createSideConnection,
  sideConnections,
} from '../../../plugins/database/connections/side-connections.ts'
import type { SideLink } from '../../../plugins/database/compat/side-link.ts'

/** A connection whose statements fail with the given codes first. */
function failing(...codes: string[]) {
  const log: string[] = []
  let lose: () => void = () => {}
  const { query, reset, close } = createSideConnection((onLost): SideLink => {
    log.push('open')
    lose = onLost
    return {
      async query(sql) {
        log.push(sql)
        const code = codes.shift()
        if (code !== undefined) throw Object.assign(new Error(code), { code })
        return { records: [{ sql }] }
      },
      destroy: () => void log.push('destroy'),
    }
  })
  return { log, query, reset, close, lose: () => lose() }
}

const failure = async (work: Promise<unknown>): Promise<string> => {
  try {
    await work
  } catch (error) {
    return (error as Error).message
  }
  throw new Error('It did not fail.')
}

describe('A connection beside the pool', () => {
  for (const code of ['ER_LOCK_DEADLOCK', 'ER_CHECKREAD', '40P01', '40001'])
    it(`sends a statement again that the server has rolled back (${code})`, async () => {
      const { log, query } = failing(code, code, code, code)
      expect(await query('count')).to.deep.equal({ records: [{ sql: 'count' }] })
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
    const { log, query, lose, reset } = failing()
    await query('one')
    lose()
    await query('two')
    reset()
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
    const source = { options: { type: 'postgres' }, driver: { master: { options, Client } } }
    await sideConnections.open(source)!.query('select 1')
    expect(seen).to.deep.equal([['db', 'secret']])
  })

  it('opens once for statements that are sent together', async () => {
    const { log, query } = failing()
    await Promise.all([query('one'), query('two')])
    expect(log).to.deep.equal(['open', 'one', 'two'])
  })

  it('leaves the connection alone that replaced a failed one', async () => {
    const first = deferred()
    const destroyed: number[] = []
    let opened = 0
    const { query, reset } = createSideConnection(() => {
      const number = ++opened
      return {
        query: () =>
          number === 1
            ? first.promise.then(() => Promise.reject(new Error('ended')))
            : Promise.resolve({ records: [] }),
        destroy: () => void destroyed.push(number),
      }
    })
    const outcome = failure(query('one'))
    reset()
    await query('two')
    first.resolve()
    expect(await outcome).to.equal('ended')
    await query('three')
    expect([opened, destroyed]).to.deep.equal([2, [1]])
  })

  it('closes the connection that a second one has overtaken, and keeps the second one', async () => {
    const log: string[] = []
    let opened = 0
    const open = (): SideLink => {
      const number = ++opened
      return {
        query: (sql) => {
          log.push(`${sql} by ${number}`)
          return sql === 'two' && number === 1 ? new Promise(() => {}) : Promise.resolve({ records: [] })
        },
        destroy: () => void log.push(`destroy ${number}`),
      }
    }
    const { query } = createSideConnection(open, { hedge: true })
    await query('one')
    mock.timers.enable({ apis: ['setTimeout'] })
    const second = query('two')
    await nextTurn()
    mock.timers.tick(1000)
    await second
    mock.timers.reset()
    await query('three')
    expect(log).to.deep.equal(['one by 1', 'two by 1', 'two by 2', 'destroy 1', 'three by 2'])
  })

  it('accepts no statement after its end', async () => {
    const { log, query, close } = failing()
    close()
    expect(await failure(query('one'))).to.equal('The connection was closed.')
    expect(log).to.deep.equal([])
  })

  it('goes to the host of a URL on MariaDB, whatever the option host says', () => {
    const options = { type: 'mysql', url: 'mysql://db/app', host: 'other' }
    const driver = {
      mysql: { createConnection: () => ({}) as never },
      createConnectionOptions: () => ({ host: 'db' }),
    }
    expect(sideConnections.open({ options, driver })).not.to.equal(undefined)
    const { url: _, ...withoutUrl } = options
    expect(sideConnections.open({ options: withoutUrl, driver })).to.equal(undefined)
  })

  it('is impossible for SQLite in memory and for other kinds of database', () => {
    const memory = { options: { type: 'better-sqlite3', database: ':memory:' }, driver: { sqlite: Date } }
    expect(sideConnections.open(memory)).to.equal(undefined)
    expect(sideConnections.open({ options: { type: 'oracle' }, driver: {} })).to.equal(undefined)
  })
})
