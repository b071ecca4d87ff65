import { mock } from 'node:test'
import { setImmediate as nextTurn } from 'node:timers/promises'
import { expect } from 'chai'
import { readEndedSessions } from '../../../../plugins/auth/basic/ended-sessions.ts'
import { sideConnections } from '../../../../plugins/database/connections/side-connections.ts'
import { createRun, type DataSourceLike } from '../../../../plugins/auth/basic/sql.ts'

describe('The reader of ended sessions', () => {
  before(() => mock.timers.enable({ apis: ['setTimeout'] }))
  after(() => mock.reset())

  it('waits half a minute for the whole table, and until its deadline for new rows', async () => {
    let elapsed = 0
    mock.method(performance, 'now', () => elapsed)
    const answers: ((value: unknown) => void)[] = []
    let dropped = 0
    class Client {
      readonly connection = { stream: { destroy: () => (dropped += 1) } }
      connect = async () => undefined
      on = () => undefined
      query = () =>
        new Promise((resolve) => {
          answers.push(resolve)
        })
    }
    let reader = readEndedSessions(sourceOf(Client), 3000, sideConnections)!
    const read = async (moment: number, milliseconds: number) => {
      const result = reader.since(moment).then(
        ({ now }) => now,
        (error: Error) => error.message,
      )
      await nextTurn()
      elapsed += milliseconds
      mock.timers.tick(milliseconds)
      await nextTurn()
      answers.pop()!({ rows: [{ now_ms: '7', id: null, expires_at: null }] })
      return result
    }
    expect(await read(-10_000, 29_000)).to.equal(7)
    expect(await read(0, 2999)).to.equal(7)
    expect(dropped).to.equal(0)
    expect(await read(0, 3001)).to.equal('The database did not respond within 3000 ms.')
    expect(dropped).to.equal(1)
    reader = readEndedSessions(sourceOf(Client), 3000, sideConnections)!
    expect(await read(0, 30_001)).to.equal('The database did not respond within 30000 ms.')
  })
})

describe('A statement', () => {
  it('is written anew for another DataSource that the application gives, with its prefix and dialect', async () => {
    const sent: string[] = []
    const sourceWith = (options: object) =>
      ({
        options,
        isInitialized: true,
        driver: { escape: (name: string) => name },
        createQueryRunner: () => ({
          query: async (statement: string) => void sent.push(statement),
          release: async () => undefined,
        }),
      }) as unknown as DataSourceLike
    const sources = [sourceWith({ type: 'sqlite' }), sourceWith({ type: 'postgres', entityPrefix: 'own_' })]
    let at = 0
    const run = createRun(() => sources[at]!)
    for (at of [0, 1, 0]) await run('select 1 from auth_users where id = ?', ['ada'])
    expect(sent).to.deep.equal([
      'select 1 from auth_users where id = ?',
      'select 1 from own_auth_users where id = $1',
      'select 1 from auth_users where id = ?',
    ])
  })
})

function sourceOf(Client: unknown): DataSourceLike {
  const driver = { master: { Client, options: {} }, escape: (name: string) => `"${name}"` }
  const source = { options: { type: 'postgres' }, isInitialized: true, entityMetadatas: [], driver }
  return source as unknown as DataSourceLike
}
