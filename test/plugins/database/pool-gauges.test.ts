import { expect } from 'chai'
import { createApp, type App } from 'mortar'
import { database } from '@mortar/database'
import { serverUrl } from '../../support/servers.ts'

/** Values of the gauges of an application by name. */
function poolGauges(app: App): Record<string, unknown> {
  const all = [...(app.services as { gauges: App['services']['gauges'] }).gauges.all]
  return Object.fromEntries(
    all.filter(([name]) => name.startsWith('database_pool_')).map(([name, { read }]) => [name, read()]),
  )
}

describe('The gauges of a connection pool', () => {
  for (const [name, type, variable] of [
    ['PostgreSQL', 'postgres', 'TEST_POSTGRES_URL'],
    ['MariaDB', 'mariadb', 'TEST_MARIADB_URL'],
  ] as const)
    describe(`on ${name}`, () => {
      const url = serverUrl(variable)
      it('show used, idle and waiting', async () => {
        const app = createApp({ environment: 'test' }).use(database({ type, url, poolSize: 2 }))
        await app.ready()
        const db = app.services.db
        const runners = [db.createQueryRunner(), db.createQueryRunner(), db.createQueryRunner()]
        await runners[0]!.connect()
        await runners[1]!.connect()
        const third = runners[2]!.connect()
        expect(poolGauges(app)).deep.equal({
          database_pool_used: 2,
          database_pool_idle: 0,
          database_pool_waiting: 1,
        })
        await runners[0]!.release()
        await third
        await runners[1]!.release()
        await runners[2]!.release()
        expect(poolGauges(app)).include({ database_pool_used: 0, database_pool_waiting: 0 })
        await app.close()
      })
    })

  it('have no values on SQLite', async () => {
    const app = createApp({ environment: 'test' }).use(
      database({ type: 'better-sqlite3', database: ':memory:' }),
    )
    await app.ready()
    expect(Object.values(poolGauges(app))).deep.equal([undefined, undefined, undefined])
    await app.close()
  })
})
