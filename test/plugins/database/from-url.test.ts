import { expect } from 'chai'
import { fromUrl } from '@mortar/database'
import { StartupError } from 'mortar'

describe('fromUrl', () => {
  const READ = {
    'sqlite:data/app.db': { type: 'better-sqlite3', database: 'data/app.db' },
    'sqlite::memory:': { type: 'better-sqlite3', database: ':memory:' },
    'sqlite:/var/lib/app.db': { type: 'better-sqlite3', database: '/var/lib/app.db' },
    'sqlite:///var/lib/app.db': { type: 'better-sqlite3', database: '/var/lib/app.db' },
    'postgres://ann:s3cret@db.example:6432/app': {
      type: 'postgres',
      host: 'db.example',
      port: 6432,
      database: 'app',
      username: 'ann',
      password: 's3cret',
    },
    'postgresql://localhost/app': { type: 'postgres', host: 'localhost', port: 5432, database: 'app' },
    'postgres://[::1]/app': { type: 'postgres', host: '::1', port: 5432, database: 'app' },
    'postgres://h/app?sslmode=require': {
      type: 'postgres',
      host: 'h',
      port: 5432,
      database: 'app',
      ssl: true,
    },
    'postgres://h/app?sslmode=no-verify': {
      type: 'postgres',
      host: 'h',
      port: 5432,
      database: 'app',
      ssl: { rejectUnauthorized: false },
    },
    'mysql://root@127.0.0.1/app': {
      type: 'mysql',
      host: '127.0.0.1',
      port: 3306,
      database: 'app',
      username: 'root',
    },
    'mariadb://u:p%40ss%2Fw%25@h/app': {
      type: 'mariadb',
      host: 'h',
      port: 3306,
      database: 'app',
      username: 'u',
      password: 'p@ss/w%',
    },
  }
  for (const [url, options] of Object.entries(READ))
    it(`reads ${url}`, () => {
      expect(fromUrl(url)).to.eql(options)
    })

  const REFUSED = {
    'an unknown scheme': 'oracle://u:hunter2@h/app',
    'a string that is not a URL': 'hunter2',
    'no database': 'postgres://u:hunter2@h',
    'no SQLite file': 'sqlite:',
    'a raw # in the password': 'postgres://u:hunter2#x@h/app',
    'a raw / in a password': 'postgres://u:2/hunter2@h/app',
    'a raw ? in a password': 'postgres://u:2?hunter2@h/app',
    'a raw % in the password': 'postgres://u:hunter2%@h/app',
    'an unknown parameter': 'postgres://u:hunter2@h/app?sslkey=hunter2',
    'an unknown sslmode': 'postgres://u:hunter2@h/app?sslmode=hunter2',
  }
  for (const [what, url] of Object.entries(REFUSED))
    it(`rejects ${what} and never shows the URL`, () => {
      const error = refusal(() => fromUrl(url))
      expect(error.code).to.equal('MORTAR_DATABASE_URL')
      expect(error.message).not.to.include('hunter2')
      expect(error.cause).to.equal(undefined)
    })
})

function refusal(work: () => unknown): StartupError {
  try {
    work()
  } catch (error) {
    if (error instanceof StartupError) return error
    throw error
  }
  throw new Error('nothing was thrown')
}
