import { spawnSync } from 'node:child_process'
import { mkdirSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as wait } from 'node:timers/promises'
import Database from 'better-sqlite3'
import type { Engine } from './engine.ts'

/** An SQLite file, which all processes share. Its disk can be full if this process may mount one of its own. */
export function startSqlite(directory: string): Promise<Engine> {
  const disk = join(directory, 'disk')
  const file = join(disk, 'notes.db')
  mkdirSync(disk)
  const isOwn = spawnSync('mount', ['-t', 'tmpfs', '-o', 'size=64m', 'tmpfs', disk]).status === 0
  const version = new Database(':memory:').prepare('select sqlite_version() as version').get() as {
    version: string
  }
  return Promise.resolve({
    title: `SQLite ${version.version}`,
    url: `sqlite:${file}`,
    faults: {
      'write lock held for 3 s': () => holdLock(file, 3000),
      'write lock held for 8 s': () => holdLock(file, 8000),
      ...(isOwn && { 'disk full for 5 s': () => fill(join(disk, 'ballast'), 5000) }),
    },
    stop: async () => {
      if (isOwn) spawnSync('umount', ['--lazy', disk])
    },
  })
}

async function fill(file: string, ms: number): Promise<void> {
  const end = Date.now() + ms
  while (Date.now() < end) {
    try {
      for (;;) writeFileSync(file, Buffer.alloc(65_536), { flag: 'a' })
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== 'ENOSPC') throw error
    }
    await wait(20)
  }
  rmSync(file)
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
