import { expect } from 'chai'
import { DataSource } from 'typeorm'
import { createApp } from 'mortar'
import { auth } from '@mortar/auth'
import { basicAuth } from '@mortar/auth/basic'
import * as schema from '@mortar/auth/basic/schema'
import { createClient, type TestResponse } from 'mortar/testing'

const SECRET = 'qF3v9Lm2Zx7Tb5Wd8Rk1Nc6Hj4Gp0Sy-'

/** The login of an application without the database brick, whose connection fails with this error. */
async function logIn(failure: Error): Promise<TestResponse> {
  const source = await new DataSource({
    type: 'better-sqlite3',
    database: ':memory:',
    synchronize: true,
    entities: Object.values(schema),
  }).initialize()
  let isLost = false
  const db = Object.create(source, {
    createQueryRunner: {
      value: (mode: 'master') => {
        if (isLost) return { query: () => Promise.reject(failure), release: async () => undefined }
        return source.createQueryRunner(mode)
      },
    },
  }) as DataSource
  const app = createApp({ logger: false, environment: 'production', appUrl: 'https://a.example' }).use(
    auth(basicAuth({ db, secret: SECRET, deviceCookie: false })),
  )
  await app.ready()
  isLost = true
  const answer = await createClient(app).post('/auth/login', {
    email: 'ada@example.com',
    password: 'any password',
  })
  isLost = false
  await app.close()
  await source.destroy()
  return answer
}

const coded = (message: string, code: string): Error => Object.assign(new Error(message), { code })

describe('basicAuth without the database brick', () => {
  const failures = {
    'a server that refuses connections': coded('connect ECONNREFUSED 127.0.0.1:5432', 'ECONNREFUSED'),
    'a PostgreSQL that stops': coded('terminating connection due to administrator command', '57P01'),
    'a connection that PostgreSQL has closed': new Error('Connection terminated unexpectedly'),
    'a pool of pg without a free connection': new Error('timeout exceeded when trying to connect'),
    'a connection that MariaDB has closed': coded('Connection lost', 'PROTOCOL_CONNECTION_LOST'),
    'a statement that took MariaDB too long': Object.assign(new Error('max_statement_time exceeded'), {
      errno: 1969,
    }),
    'a SQLite that another process has locked': coded('database is locked', 'SQLITE_BUSY'),
    'an error inside that of TypeORM': Object.assign(new Error('QueryFailedError'), {
      driverError: coded('read ECONNRESET', 'ECONNRESET'),
    }),
  }
  for (const [name, failure] of Object.entries(failures))
    it(`responds with 503 and Retry-After for ${name}`, async () => {
      const { status, headers, body, text } = await logIn(failure)
      expect([status, headers['retry-after'], body.code]).to.deep.equal([503, '1', 'service_unavailable'])
      expect(text).to.not.match(/ECONN|terminat|lost|locked|timeout/i)
    })

  it('responds with 500 for any other error', async () => {
    expect((await logIn(coded('syntax error at or near "form"', '42601'))).status).to.equal(500)
    expect((await logIn(new Error('something else'))).status).to.equal(500)
  })
})
