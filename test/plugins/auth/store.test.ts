import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect } from 'chai'
import { DataSource, type DataSourceOptions } from 'typeorm'
import { MissingTable } from '../../../plugins/auth/errors.ts'
import {
  AuthEndedSessions,
  AuthRefreshTokens,
  AuthResetTokens,
  AuthUsers,
  authUsers,
} from '@mortar/auth/basic/schema'
import * as basic from '@mortar/auth/basic/schema'
import * as account from '@mortar/auth/account/schema'
import * as audit from '@mortar/auth/audit/schema'
import * as challenges from '@mortar/auth/challenges/schema'
import * as notices from '@mortar/auth/notices/schema'
import * as passkeys from '@mortar/auth/passkeys/schema'
import * as sessionMethods from '@mortar/auth/session-methods/schema'
import * as sessions from '@mortar/auth/sessions/schema'
import * as social from '@mortar/auth/social/schema'
import * as totp from '@mortar/auth/totp/schema'
import { createRelationalStore } from '../../../plugins/auth/basic/store.ts'
import { addUser, sessionFor } from '../../../plugins/auth/testing/store-fixtures.ts'
import { authStoreSuite } from '@mortar/auth/testing'
import { createDataSource } from '@mortar/database'
import { KINDS } from '../database/databases.ts'
import { SQLITE_DRIVERS } from '../database/drivers.ts'
import { serverUrl } from '../../support/servers.ts'
import { inZone, ZONES } from '../../support/zones.ts'

/** The tables of the brick and of its features. */
const SCHEMAS = [basic, account, audit, challenges, notices, passkeys, sessionMethods, sessions, social, totp]

const entities = [AuthUsers, AuthEndedSessions, AuthRefreshTokens, AuthResetTokens]

async function openSource(options: DataSourceOptions): Promise<DataSource> {
  const source = new DataSource(options)
  return source.initialize()
}

async function open(
  options: DataSourceOptions,
  after: () => Promise<unknown> = async () => {},
  tables: typeof entities = entities,
) {
  // Through the database brick, which gives a column the collation that it asks for.
  const source = await createDataSource({
    ...options,
    entities: tables,
    synchronize: true,
  }).initialize()
  const close = async () => {
    await source.destroy()
    await after()
  }
  return { store: createRelationalStore(() => source), close }
}

/** The tables are there, and the application's DataSource knows nothing of them. */
async function openUnregistered() {
  const source = await openSource({ type: 'better-sqlite3', database: ':memory:' })
  const registered = await openSource({ type: 'better-sqlite3', database: ':memory:', entities })
  const { upQueries } = await registered.driver.createSchemaBuilder().log()
  await registered.destroy()
  for (const { query } of upQueries) await source.query(query)
  return { store: createRelationalStore(() => source), close: () => source.destroy() }
}

async function openFile(driver?: object) {
  const directory = await mkdtemp(join(tmpdir(), 'mortar-auth-'))
  const database = join(directory, 'auth.db')
  return open({ type: 'better-sqlite3', database, enableWAL: true, driver }, () =>
    rm(directory, { recursive: true }),
  )
}

function missingTableTest(options: DataSourceOptions): void {
  it('names a missing table and the remedy', async () => {
    const source = await openSource(options)
    const error = await createRelationalStore(() => source)
      .findUserByEmail('ada@example.com')
      .catch((reason: unknown) => reason)
    await source.destroy()
    expect(error).to.be.instanceOf(MissingTable)
    expect((error as Error).message).to.match(
      /^no such table: \w*auth_users\. Run the pending migrations .* re-export '@mortar\/auth\/basic\/schema'/,
    )
  })
}

type Server = 'postgres' | 'mariadb'

/**
 * Statements of a server about one connection's isolation, and about statements that wait for a lock. MariaDB renews its list
 * of transactions only after nobody has read it for 0.1 s, so each look at it begins with a pause.
 */
const DIALECT = {
  postgres: {
    isolation: 'set session characteristics as transaction isolation level',
    pause: 'select 1',
    waiting: "select 1 from pg_stat_activity where wait_event_type = 'Lock' and datname = current_database()",
  },
  mariadb: {
    isolation: 'set session transaction isolation level',
    pause: 'do sleep(0.12)',
    waiting: "select 1 from information_schema.innodb_trx where trx_state = 'LOCK WAIT'",
  },
} as const

/** Another connection has changed the password version and not committed yet. */
function waitingTest(type: Server, url: string, level: string): void {
  it(`lets a session wait for a change of the password version, in ${level}`, async () => {
    const options = { type, url, extra: type === 'postgres' ? { max: 1 } : { connectionLimit: 1 } } as const
    const [{ store: setUp, close }, source, other] = [
      await open({ type, url, dropSchema: true }),
      await openSource(options),
      await openSource({ type, url }),
    ]
    const change = other.createQueryRunner()
    try {
      const user = await addUser(setUp)
      await source.query(`${DIALECT[type].isolation} ${level}`)
      await change.startTransaction()
      await change.query('update auth_users set password_version = 1')
      const insertion = createRelationalStore(() => source).insertSession(sessionFor(user))
      const state = { isDone: false }
      void insertion.finally(() => (state.isDone = true)).catch(() => undefined)
      do await other.query(DIALECT[type].pause)
      while (!state.isDone && (await other.query(DIALECT[type].waiting)).length === 0)
      expect(state.isDone).to.equal(false)
      await change.commitTransaction()
      expect(await insertion).to.equal(false)
    } finally {
      await change.release()
      await Promise.all([source.destroy(), other.destroy(), close()])
    }
  })
}

/** Runs the suite on tables that it makes once and empties for each test, because a server is slow at making them. */
function suiteOnServer(name: string, options: DataSourceOptions): void {
  let source: DataSource | undefined
  const emptied = async () => {
    const { manager, entityMetadatas } = (source ??= await createDataSource({
      ...options,
      entities,
      synchronize: true,
      dropSchema: true,
    }).initialize())
    for (const { target } of entityMetadatas)
      await manager.createQueryBuilder().delete().from(target).execute()
    return { store: createRelationalStore(() => source!), close: async () => {} }
  }
  const inner = (title: string, body: () => void) =>
    void describe(title, () => {
      body()
      if (title.endsWith(name)) after(() => source?.destroy())
    })
  authStoreSuite({ describe: inner, it }, name, emptied)
}

/** Runs the suite in a database of its own, because other suites use the one of the URL. @returns its URL. */
function onServer(type: Server, url: string): string {
  const name = `mortar_auth_store_${process.pid}`
  const own = url && Object.assign(new URL(url), { pathname: `/${name}` }).href
  before(() => administer(type, url, `create database ${name}`))
  after(() => administer(type, url, `drop database ${name}`))

  missingTableTest({ type, url: own })
  suiteOnServer(type, { type, url: own })
  for (const level of ['read committed', 'repeatable read']) waitingTest(type, own, level)
  return own
}

async function administer(type: Server, url: string, statement: string): Promise<void> {
  const server = await openSource({ type, url })
  await server.query(statement)
  await server.destroy()
}

authStoreSuite({ describe, it }, 'a SQLite file by libsql', () => openFile(SQLITE_DRIVERS['libsql']))

authStoreSuite({ describe, it }, 'SQLite in memory', () =>
  open({ type: 'better-sqlite3', database: ':memory:' }),
)
authStoreSuite({ describe, it }, 'SQLite in a file', () => openFile())
authStoreSuite({ describe, it }, 'SQLite, entities not registered', openUnregistered)
authStoreSuite({ describe, it }, 'SQLite, with a prefix of table names', () =>
  open({ type: 'better-sqlite3', database: ':memory:', entityPrefix: 'My-App ' }),
)

describe('auth store on SQLite', () => {
  missingTableTest({ type: 'better-sqlite3', database: ':memory:' })

  for (const entityPrefix of ['', 'app_'])
    it(`keeps the application's own columns in a table with the prefix '${entityPrefix}'`, async () => {
      const users = authUsers({ role: { type: String, default: 'user' } })
      const { store, close } = await open(
        { type: 'better-sqlite3', database: ':memory:', entityPrefix },
        undefined,
        [users, ...entities.slice(1)],
      )
      const [ada, eve] = [
        await addUser(store),
        await addUser(store, { id: 'eve', email: 'eve@example.com', fields: { role: 'admin' } }),
      ]
      await close()
      expect([ada.raw['role'], eve.raw['role']]).to.deep.equal(['user', 'admin'])
    })
})
describe('auth store on PostgreSQL', () => {
  const own = onServer('postgres', serverUrl('TEST_POSTGRES_URL'))
  const odd = { schema: 'The-Accounts', entityPrefix: 'App_' }
  before(() => administer('postgres', own, `create schema "${odd.schema}"`))
  missingTableTest({ type: 'postgres', url: own, ...odd })
  suiteOnServer('postgres, in a schema of its own, with a prefix', { type: 'postgres', url: own, ...odd })
})
describe('auth store on MariaDB', () => void onServer('mariadb', serverUrl('TEST_MARIADB_URL')))

for (const [kind, place] of Object.entries(KINDS))
  describe(`auth store on ${kind} in several time zones`, () => {
    const database = place()

    it('reads the dates of a user as another process wrote them', async () => {
      const source = await database().open(entities)
      await source.synchronize()
      const store = createRelationalStore(() => source)
      // The second half of the hour that autumn repeats in Berlin.
      const now = Date.UTC(2026, 9, 25, 1, 30, 0, 7)
      for (const [id, zone] of ZONES.entries()) {
        const user = { id: `user-${id}`, name: zone, email: `${id}@example.com`, passwordHash: 'h', now }
        await inZone(zone, async () => {
          await store.insertUser(user)
          await store.setPassword({
            userId: user.id,
            passwordHash: 'i',
            keptSession: null,
            now,
            emailVerifiedAt: now,
          })
        })
      }
      for (const zone of ZONES)
        for (const id of ZONES.keys()) {
          const { raw } = (await inZone(zone, () => store.findUserById(`user-${id}`)))!
          const dates = [raw['created_at'], raw['updated_at'], raw['email_verified_at']]
          expect(dates).to.eql(dates.map(() => '2026-10-25T01:30:00.007Z'))
        }
    })
  })

for (const [kind, place] of Object.entries(KINDS))
  describe(`the rows of a user on ${kind}`, () => {
    const database = place()

    it('are deleted with the user, by the foreign key of each table', async () => {
      const source = await database().open(SCHEMAS)
      await source.synchronize()
      await addUser(
        createRelationalStore(() => source),
        { id: 'ada' },
      )
      const owned = source.entityMetadatas.filter(({ propertiesMap }) => 'user_id' in propertiesMap)
      for (const { target, columns } of owned) {
        const needed = columns.filter(
          ({ isNullable, propertyName }) => !isNullable || propertyName === 'user_id',
        )
        const row = needed.map(({ propertyName, type }) => [propertyName, type === String ? 'x' : 1])
        await source.getRepository(target).insert({ ...Object.fromEntries(row), user_id: 'ada' })
      }
      await source.getRepository(AuthUsers).delete({ id: 'ada' })
      const left: string[] = []
      for (const { target, name } of owned)
        if ((await source.getRepository(target).count()) > 0) left.push(name)
      expect(left).to.deep.equal([])
      expect(owned.length).to.be.greaterThan(9)
    })
  })
