import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { DataSource, type DataSourceOptions } from 'typeorm'
import * as schema from '../../../plugins/auth/relational/schema.ts'
import { createRelationalStore } from '../../../plugins/auth/relational/store.ts'
import { authStoreSuite } from '../../../plugins/auth/testing/store-suite.ts'

const entities = [schema.AuthUsers, schema.AuthRefreshTokens, schema.AuthResetTokens]
const { TEST_POSTGRES_URL, TEST_MARIADB_URL } = process.env

async function open(options: DataSourceOptions, after: () => Promise<unknown> = async () => {}) {
  const source = new DataSource({
    ...options,
    entities,
    synchronize: true,
    dropSchema: true,
  } as DataSourceOptions)
  await source.initialize()
  const close = async () => {
    await source.destroy()
    await after()
  }
  return { store: createRelationalStore(() => source), close }
}

/** The tables are there, and the application's DataSource knows nothing of them. */
async function openUnregistered() {
  const source = new DataSource({ type: 'better-sqlite3', database: ':memory:' })
  await source.initialize()
  const registered = new DataSource({ type: 'better-sqlite3', database: ':memory:', entities })
  await registered.initialize()
  const { upQueries } = await registered.driver.createSchemaBuilder().log()
  await registered.destroy()
  for (const { query } of upQueries) await source.query(query)
  return { store: createRelationalStore(() => source), close: () => source.destroy() }
}

async function openFile() {
  const directory = await mkdtemp(join(tmpdir(), 'mortar-auth-'))
  const database = join(directory, 'auth.db')
  return open({ type: 'better-sqlite3', database, enableWAL: true }, () => rm(directory, { recursive: true }))
}

authStoreSuite({ describe, it }, 'SQLite in memory', () =>
  open({ type: 'better-sqlite3', database: ':memory:' }),
)
authStoreSuite({ describe, it }, 'SQLite in a file', openFile)
authStoreSuite({ describe, it }, 'SQLite, entities not registered', openUnregistered)

if (TEST_POSTGRES_URL)
  authStoreSuite({ describe, it }, 'PostgreSQL', () => open({ type: 'postgres', url: TEST_POSTGRES_URL }))
else it('PostgreSQL auth store: needs TEST_POSTGRES_URL')

if (TEST_MARIADB_URL)
  authStoreSuite({ describe, it }, 'MariaDB', () => open({ type: 'mariadb', url: TEST_MARIADB_URL }))
else it('MariaDB auth store: needs TEST_MARIADB_URL')
