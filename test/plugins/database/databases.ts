import { randomBytes } from 'node:crypto'
import { mkdir, mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import Sqlite from 'better-sqlite3'
import type { DataSource, QueryRunner } from 'typeorm'
import { type ConnectionOptions, createDataSource, type Entities, fromUrl } from '@mortar/database'
import { SQLITE_DRIVERS } from './drivers.ts'
import { makeTables } from './make-tables.ts'
import { type ServerVariable, serverUrl } from '../../support/servers.ts'

/** A place of its own for one test: nothing is in it, and nothing of it stays. */
export interface TestDatabase {
  /** Options of a connection to it; two sources made from them see the same data. */
  options(entities?: Entities): ConnectionOptions
  /** Makes the tables of entities, as `synchronize` of a source does. */
  makeTables(entities: Entities): Promise<void>
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
  PostgreSQL: (owner) =>
    onServer('TEST_POSTGRES_URL', owner, (server, name) => ({
      options: { ...server, schema: name } as ConnectionOptions,
      create: `create schema ${name}`,
      drop: `drop schema ${name} cascade`,
      // One command, as PostgreSQL runs it.
      tables: (statements) => [[`set search_path to ${name}`, ...statements, 'reset search_path'].join(';')],
    })),
  MariaDB: (owner) => onMariaDb(owner),
}

/** `extra` may name the other type that TypeORM has for this server. */
function onMariaDb(owner: Owner | undefined, extra: object = {}): () => TestDatabase {
  return onServer('TEST_MARIADB_URL', owner, (server, name) => ({
    options: { ...server, ...extra, database: name } as ConnectionOptions,
    create: `create database ${name}`,
    drop: `drop database ${name}`,
    // A table may refer to one that comes later.
    tables: (statements) => [
      `use ${name}`,
      'set foreign_key_checks = 0',
      ...statements,
      'set foreign_key_checks = 1',
    ],
  }))
}

/** Options with which statements find the tables of the place without its schema in front. */
export function inSchema(place: TestDatabase): ConnectionOptions {
  return withSearchPath(place.options())
}

function withSearchPath(options: ConnectionOptions & { readonly schema?: string }): ConnectionOptions {
  const { schema } = options
  return schema === undefined ? options : { ...options, extra: { options: `-c search_path=${schema}` } }
}

/** The same, with SQLite by libsql and with both types of MariaDB: the URL of the tests has the type `mysql`. */
export const KINDS_AND_DRIVERS: typeof KINDS = {
  ...KINDS,
  'SQLite by libsql': (owner) => sqlite(owner, SQLITE_DRIVERS['libsql']),
  'MariaDB by its own type': (owner) => onMariaDb(owner, { type: 'mariadb' }),
}

/** A place on a server, and the statements about it. */
interface Plan {
  readonly options: ConnectionOptions
  readonly create: string
  readonly drop: string
  readonly tables: (statements: readonly string[]) => readonly string[]
}

/** The places of a suite are made and dropped on one connection. */
function onServer(
  variable: ServerVariable,
  owner: Owner | undefined,
  plan: (server: ConnectionOptions, name: string) => Plan,
): () => TestDatabase {
  const url = serverUrl(variable)
  let source: DataSource
  let runner: QueryRunner
  before(async () => {
    source = await createDataSource(fromUrl(url)).initialize()
    runner = source.createQueryRunner()
  })
  const place = prepared(owner, async () => {
    const { options, create, drop, tables } = plan(fromUrl(url), newName())
    await runner.query(create)
    return withConnections(options, {
      remove: () => runner.query(drop),
      async run(statements) {
        for (const statement of tables(statements)) await runner.query(statement)
      },
    })
  })
  after(async () => {
    await runner?.release()
    await source?.destroy()
  })
  return place
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
    return withConnections(options, {
      remove: () => rm(folder, { recursive: true }),
      async run(statements) {
        await mkdir(dirname(database))
        const made = new Sqlite(database)
        made.exec(`begin; ${statements.join(';')}; commit`)
        made.close()
      },
    })
  })
}

const newName = (): string => `mortar_${randomBytes(6).toString('hex')}`

interface Place {
  /** Runs the statements that make tables. */
  run(statements: readonly string[]): Promise<unknown>
  remove(): Promise<unknown>
}

function withConnections(place: ConnectionOptions, { run, remove }: Place): TestDatabase {
  const opened: DataSource[] = []
  const options = (entities: Entities = []): ConnectionOptions => ({ ...place, entities })
  return {
    options,
    makeTables: (entities) => makeTables(withSearchPath(place), entities, run),
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
