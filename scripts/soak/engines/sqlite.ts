import { join } from 'node:path'
import { setTimeout as wait } from 'node:timers/promises'
import Database from 'better-sqlite3'
import type { Engine } from './engine.ts'

/** An SQLite file, which all processes share. Another program that holds the write lock is its only fault. */
export function startSqlite(directory: string): Promise<Engine> {
  const file = join(directory, 'notes.db')
  const version = new Database(':memory:').prepare('select sqlite_version() as version').get() as {
    version: string
  }
  return Promise.resolve({
    title: `SQLite ${version.version}`,
    url: `sqlite:${file}`,
    faults: {
      'write lock held for 3 s': () => holdLock(file, 3000),
      'write lock held for 8 s': () => holdLock(file, 8000),
    },
    stop: () => Promise.resolve(),
  })
}

async function holdLock(file: string, ms: number): Promise<void> {
  const connection = new Database(file)
  try {
    await begin(connection)
    await wait(ms)
    connection.exec('rollback')
  } finally {
    connection.close()
  }
}

/** The application may be writing, and SQLite's own wait would block this process. */
async function begin(connection: Database.Database): Promise<void> {
  connection.pragma('busy_timeout = 0')
  for (let tries = 0; ; tries++)
    try {
      connection.exec('begin immediate')
      return
    } catch (error) {
      if (tries === 2000) throw error
      await wait(2)
    }
}
