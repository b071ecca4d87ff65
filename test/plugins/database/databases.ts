import { randomBytes } from 'node:crypto'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { DataSource } from 'typeorm'
import { type ConnectionOptions, createDataSource, type Entities, fromUrl } from '@mortar/database'
import { SQLITE_DRIVERS } from './drivers.ts'
import { runStatement } from '../../support/run-statement.ts'
import { type ServerVariable, serverUrl } from '../../support/servers.ts'

/** A place of its own for one test: nothing is in it, and nothing of it stays. */
export interface TestDatabase {
  /** Options of a connection to it; two sources made from them see the same data. */
  options(entities?: Entities): ConnectionOptions
  /** Connects; what a test opened is closed by `remove`. */
  open(entities?: Entities): Promise<DataSource>
  remove(): Promise<void>
}

/** The scope of a database: one for each test, or one for the whole suite. */
export type Owner = 'test' | 'suite'

/**
 * The kinds of database that a suite runs on, by name. Call one first in the body of a `describe`: each test, or the
 * suite, then gets a place of its own from the function that comes back. A server's is skipped where none is named.
 */
export const KINDS: Readonly<Record<string, (owner?: Owner) => () => TestDatabase>> = {
  SQLite: (owner) => sqlite(owner),
  PostgreSQL: (owner) => {
    const server = serverOptions('TEST_POSTGRES_URL')
    return prepared(owner, async () => {
      const schema = newName()
      await runStatement(server(), `create schema ${schema}`)
      const options = { ...server(), schema } as ConnectionOptions
      return withConnections(options, () => runStatement(server(), `drop schema ${schema} cascade`))
    })
  },
  MariaDB: (owner) => {
    const server = serverOptions('TEST_MARIADB_URL')
    return prepared(owner, async () => {
      const database = newName()
      await runStatement(server(), `create database ${database}`)
      const options = { ...server(), database } as ConnectionOptions
      return withConnections(options, () => runStatement(server(), `drop database ${database}`))
    })
  },
}

/** Options with which statements find the tables of the place without its schema in front. */
export function inSchema(place: TestDatabase): ConnectionOptions {
  const options = place.options() as ConnectionOptions & { readonly schema?: string }
  const { schema } = options
  return schema === undefined ? options : { ...options, extra: { options: `-c search_path=${schema}` } }
}

/** The same, with SQLite by libsql as well. */
export const KINDS_AND_DRIVERS: typeof KINDS = {
  ...KINDS,
  'SQLite by libsql': (owner) => sqlite(owner, SQLITE_DRIVERS['libsql']),
}

/** Read when a test runs, as the URL is empty where the suite is skipped. */
function serverOptions(variable: ServerVariable): () => ConnectionOptions {
  const url = serverUrl(variable)
  return () => fromUrl(url)
}

function prepared(owner: Owner | undefined, make: () => Promise<TestDatabase>): () => TestDatabase {
  let place: TestDatabase | undefined
  const [first, last] = owner === 'suite' ? [before, after] : [beforeEach, afterEach]
  first(async () => {
    place = await make()
  })
  last(() => place?.remove())
  return () => place!
}

function sqlite(owner: Owner | undefined, driver?: object): () => TestDatabase {
  return prepared(owner, async () => {
    const folder = await mkdtemp(join(tmpdir(), 'mortar-database-'))
    const database = join(folder, newName(), 'app.db')
    const options = { type: 'better-sqlite3', database, ...(driver && { driver }) } as const
    return withConnections(options, () => rm(folder, { recursive: true }))
  })
}

const newName = (): string => `mortar_${randomBytes(6).toString('hex')}`

function withConnections(place: ConnectionOptions, remove: () => Promise<unknown>): TestDatabase {
  const opened: DataSource[] = []
  const options = (entities: Entities = []): ConnectionOptions => ({ ...place, entities })
  return {
    options,
    async open(entities) {
      const dataSource = await createDataSource(options(entities)).initialize()
      opened.push(dataSource)
      return dataSource
    },
    async remove() {
      await Promise.all(opened.filter(({ isInitialized }) => isInitialized).map((source) => source.destroy()))
      await remove()
    },
  }
}
