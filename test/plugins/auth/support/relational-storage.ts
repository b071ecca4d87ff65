import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { DataSource } from 'typeorm'
import { basicAuth } from '@mortar/auth/basic'
import { AuthEndedSessions, AuthRefreshTokens, AuthResetTokens, authUsers } from '@mortar/auth/basic/schema'
import { AuthDeletions } from '@mortar/auth/account/schema'
import { AuthAudit } from '@mortar/auth/audit/schema'
import { AuthChallenges } from '@mortar/auth/challenges/schema'
import { AuthKnownBrowsers } from '@mortar/auth/notices/schema'
import { AuthSessionDetails } from '@mortar/auth/sessions/schema'
import { AuthPasskeys } from '@mortar/auth/passkeys/schema'
import { AuthAccounts } from '@mortar/auth/social/schema'
import { AuthRecoveryCodes, AuthSessionMethods, AuthTotp } from '@mortar/auth/totp/schema'
import { createDataSource, database } from '@mortar/database'
import { inSchema, type TestDatabase } from '../../database/databases.ts'
import { Interruptions, statementOf } from './interruptions.ts'
import type { Storage, StorageOptions, StorageVariant } from './storage.ts'

const OWN_COLUMNS = {
  role: { type: String, default: 'user' },
  subscribed: { type: Boolean, default: true },
  settings: { type: 'simple-json', nullable: true },
  // Named like a table of the brick.
  auth_from: { type: String, nullable: true },
  totp_secret: { type: String, nullable: true, select: false },
} as const

// As in an application, which defines its users once.
const [USERS, LARGE_USERS] = [authUsers({}), authUsers(OWN_COLUMNS)]

/** basicAuth on SQLite. */
export const RELATIONAL: StorageVariant = { name: 'a relational database', open }

/** basicAuth on the place of a test, which is a schema or a database of a server. */
export function onPlace(name: string, place: () => TestDatabase): StorageVariant {
  return {
    name,
    open: async ({ file, ownColumns, withFeatures }) => {
      const entities = entitiesOf(ownColumns, withFeatures)
      if (typeof file !== 'string') await place().makeTables(entities)
      return storageOf(createDataSource({ ...inSchema(place()), entities }), name)
    },
  }
}

const FEATURES = [
  AuthSessionDetails,
  AuthKnownBrowsers,
  AuthChallenges,
  AuthAccounts,
  AuthDeletions,
  AuthAudit,
  AuthPasskeys,
  AuthTotp,
  AuthRecoveryCodes,
  AuthSessionMethods,
]

function entitiesOf(ownColumns?: boolean, withFeatures?: boolean) {
  const own = [ownColumns ? LARGE_USERS : USERS, AuthEndedSessions, AuthRefreshTokens, AuthResetTokens]
  return [...own, ...(withFeatures ? FEATURES : [])]
}

/** The statements that make the tables on SQLite, by the options that they depend on. */
const TABLES = new Map<string, Promise<string>>()

/**
 * TypeORM makes each table three times on SQLite, which takes longer than the tests of most worlds. Its result is copied
 * from a first database instead.
 */
function tablesOf({ ownColumns, withFeatures }: StorageOptions): Promise<string> {
  const key = JSON.stringify([ownColumns, withFeatures])
  let tables = TABLES.get(key)
  if (!tables) TABLES.set(key, (tables = describeTables(entitiesOf(ownColumns, withFeatures))))
  return tables
}

async function describeTables(entities: ReturnType<typeof entitiesOf>): Promise<string> {
  const source = new DataSource({ type: 'better-sqlite3', database: ':memory:', entities, synchronize: true })
  await source.initialize()
  const rows = await source.query<{ sql: string }[]>(
    `select sql from sqlite_master where sql is not null and name not like 'sqlite%' order by type desc`,
  )
  await source.destroy()
  return `begin; ${rows.map(({ sql }) => `${sql};`).join(' ')} commit;`
}

async function open(options: StorageOptions): Promise<Storage> {
  const { file, withoutTables, ownColumns, withFeatures } = options
  const directory = file === true ? await mkdtemp(join(tmpdir(), 'mortar-auth-')) : undefined
  const path = directory ? join(directory, 'app.db') : String(file ?? ':memory:')
  const isNew = typeof file !== 'string' && !withoutTables
  const tables = isNew ? await tablesOf(options) : ''
  const source = new DataSource({
    type: 'better-sqlite3',
    database: path,
    entities: entitiesOf(ownColumns, withFeatures),
    // No test pulls the plug, so none has to wait for a disk, or needs a journal that outlives the process.
    prepareDatabase: (db: { exec(sql: string): unknown }) =>
      void db.exec(`pragma synchronous = off; pragma journal_mode = memory; ${tables}`),
  })
  const remove = async () => directory && (await rm(directory, { recursive: true, force: true }))
  return storageOf(source, path, remove)
}

function storageOf(source: DataSource, path: string, remove: Storage['remove'] = async () => {}): Storage {
  return {
    file: path,
    bricks: [database(source)],
    interruptions: interrupted(source),
    provider: basicAuth,
    users: () => source.query('select * from auth_users'),
    sessions: () => source.query('select * from auth_refresh_tokens'),
    resetTokens: () => source.query('select * from auth_reset_tokens'),
    changeUsers: (change) => source.createQueryBuilder().update('auth_users').set(change).execute(),
    forgetEnds: () => source.query('update auth_ended_sessions set expires_at = 0'),
    renameColumn: (table, from, to) => source.query(`alter table ${table} rename column ${from} to ${to}`),
    deleteUsers: () => source.query('delete from auth_users'),
    rows: (table) => source.query(`select * from ${table}`),
    remove,
  }
}

function interrupted(source: DataSource): Interruptions {
  const interruptions = new Interruptions()
  const create = source.createQueryRunner.bind(source)
  source.createQueryRunner = (mode) => {
    const runner = create(mode)
    const query = runner.query.bind(runner) as (...args: unknown[]) => Promise<unknown>
    runner.query = (async (sql: string, ...args: unknown[]) => {
      const [verb = ''] = sql.split(' ')
      const [table = ''] = /auth_\w+/.exec(sql) ?? []
      const statement = statementOf(verb, table)
      await interruptions.pass(statement)
      const result = await query(sql, ...args)
      await interruptions.passed(statement)
      return result
    }) as typeof runner.query
    return runner
  }
  return interruptions
}
