import { spawnSync } from 'node:child_process'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import Sqlite from 'better-sqlite3'
import { buildReference } from './reference.ts'
import { range } from './workloads/requests.ts'
import { NotMeasured, type SetUp } from './workloads/workload.ts'
import { notesOf, USERS } from './work/notes/rows.js'
import { runSql } from './work/notes/run-sql.js'

/**
 * Makes the database that all servers of workload m read: tables and indexes by the migrations of the reference
 * application, rows of `work/notes/rows.js`, statistics up to date.
 * @throws NotMeasured without a PostgreSQL server.
 */
export function createNotesDatabase(kind: 'sqlite' | 'postgres'): Promise<SetUp> {
  return kind === 'sqlite' ? createSqlite() : createPostgres()
}

async function createSqlite(): Promise<SetUp> {
  const folder = mkdtempSync(join(tmpdir(), 'mortar-bench-'))
  const file = join(folder, 'notes.db')
  const env = environmentOf(`sqlite:${file}`)
  migrate(env)
  const db = new Sqlite(file)
  const insert = db.prepare(
    'insert into notes values (@id, @owner_id, @title, @text, @archived, @created_at, @updated_at)',
  )
  db.transaction(() => {
    for (const user of range(USERS))
      for (const note of notesOf(user))
        insert.run({
          ...note,
          archived: note.archived ? 1 : 0,
          created_at: sqliteTime(note.created_at),
          updated_at: sqliteTime(note.updated_at),
        })
  })()
  db.exec('analyze')
  db.close()
  return { env, tearDown: () => rmSync(folder, { recursive: true, force: true }) }
}

/** As TypeORM writes it. */
function sqliteTime(time: Date): string {
  return time.toISOString().replace('T', ' ').replace('Z', '')
}

async function createPostgres(): Promise<SetUp> {
  const server = process.env['BENCH_POSTGRES_URL'] ?? process.env['TEST_POSTGRES_URL']
  if (server === undefined)
    throw new NotMeasured('BENCH_POSTGRES_URL does not name a PostgreSQL server in which to make a database.')
  const name = `mortar_bench_${process.pid}`
  const url = new URL(server)
  url.pathname = `/${name}`
  await runSql(server, `create database ${name}`)
  const tearDown = (): Promise<void> => runSql(server, `drop database if exists ${name} with (force)`)
  try {
    const env = environmentOf(url.href)
    migrate(env)
    const rows = range(USERS).flatMap((user) => notesOf(user))
    const insert = 'insert into notes select * from json_populate_recordset(null::notes, $1)'
    await runSql(url.href, insert, [JSON.stringify(rows)])
    await runSql(url.href, 'vacuum analyze notes')
    return { env, tearDown }
  } catch (error) {
    await tearDown()
    throw error
  }
}

/** The environment of the reference application; the other servers read `DATABASE_URL` alone. */
function environmentOf(url: string): Record<string, string> {
  return {
    DATABASE_URL: url,
    AUTH_SECRET: 'Zk3vQ9xL0pWm7RtY5uBn2cHd8fGj1aSeQ4oTi6yUzXs',
    APP_URL: 'https://example.com',
    MAIL_TRANSPORT: 'smtp://127.0.0.1:2525',
    // PostgreSQL's timestamps without a zone are local times to its driver.
    TZ: 'UTC',
  }
}

function migrate(env: Readonly<Record<string, string>>): void {
  const app = join(buildReference(), 'app.js')
  const script = join(import.meta.dirname, 'work/notes/migrate.js')
  const { status, stderr } = spawnSync(process.execPath, [script, app], {
    encoding: 'utf8',
    // Migrations run at the start, but not in production.
    env: { PATH: process.env['PATH'], ...env, NODE_ENV: 'development' },
  })
  if (status !== 0) throw new Error(`The migrations of the reference application failed:\n${stderr}`)
}
