import { setTimeout as wait } from 'node:timers/promises'
import { errorCode, type Counted, type KeyCount } from 'mortar/kit'
import { TABLE, type MakeCounters } from './database-counters.ts'
import { inWindow, isActive, type CountedRow } from './counted-rows.ts'

/** Milliseconds for which a busy file is tried again. */
const PATIENCE = 1000

const IS_COUNTING = isActive('expire', 'excluded.expire', '?')

const UPSERT = `
  INSERT INTO ${TABLE} (key, points, expire) VALUES (?, ?, ?)
  ON CONFLICT (key) DO UPDATE SET
    points = excluded.points + CASE WHEN ${IS_COUNTING} THEN points ELSE 0 END,
    expire = CASE WHEN ${IS_COUNTING} THEN expire ELSE excluded.expire END
  RETURNING points, expire`

/**
 * Counters in a SQLite file beside that of the application, because SQLite has one writer: a transaction of the
 * application would block the counts, or take them back.
 * @returns undefined for a database in memory.
 */
export const sqliteCounters: MakeCounters = (source, beside) => {
  const { database } = source.options
  if (typeof database !== 'string' || ['', ':memory:'].includes(database)) return undefined
  let opened: OpenFile | undefined
  const open = (): OpenFile =>
    (opened ??= openFile(beside.openFile(source, `${database}.limits`) as SqliteFile))
  const disconnect = (): void => {
    opened?.file.close()
    opened = undefined
  }
  const run = (sql: string, ...values: unknown[]): Promise<number> =>
    whenFree(
      () =>
        open()
          .file.prepare(sql)
          .run(...values).changes,
    )
  return {
    isReady: () => true,
    reset: disconnect,
    disconnect,
    count: (counts) => whenFree(() => open().count(counts)),
    read: (key) =>
      whenFree(() => {
        const row = open().file.prepare(`SELECT key, points, expire FROM ${TABLE} WHERE key = ?`).get(key)
        return inWindow(row === undefined ? [] : [row as CountedRow])
      }),
    clear: (key) => run(`DELETE FROM ${TABLE} WHERE key = ?`, key),
    giveBack: (key) => run(`UPDATE ${TABLE} SET points = points - 1 WHERE key = ? AND points > 0`, key),
    prepare: () => whenFree(() => void open()),
    deleteExpired: (now, most) =>
      run(`DELETE FROM ${TABLE} WHERE key IN (SELECT key FROM ${TABLE} WHERE expire < ? LIMIT ${most})`, now),
  }
}

/** The used part of a connection of better-sqlite3. */
interface SqliteFile {
  prepare(sql: string): {
    run(...values: readonly unknown[]): { readonly changes: number }
    get(...values: readonly unknown[]): unknown
  }
  /** `immediate` begins with the lock of the writer. */
  transaction<Given, Result>(work: (given: Given) => Result): { immediate(given: Given): Result }
  exec(sql: string): unknown
  close(): void
}

interface OpenFile {
  readonly file: SqliteFile
  /** Counts in one transaction, which writes to the file once. */
  count(counts: readonly KeyCount[]): Counted[]
}

/** Nothing waits for the disk: a power failure may reset the counters. */
function openFile(file: SqliteFile): OpenFile {
  try {
    file.exec('PRAGMA journal_mode = WAL; PRAGMA synchronous = OFF')
    file.exec(
      `CREATE TABLE IF NOT EXISTS ${TABLE} (key TEXT PRIMARY KEY, points INTEGER NOT NULL, expire INTEGER) WITHOUT ROWID;
       CREATE INDEX IF NOT EXISTS ${TABLE}_expire ON ${TABLE} (expire)`,
    )
    return { file, count: counterOf(file) }
  } catch (error) {
    file.close()
    throw error
  }
}

function counterOf(file: SqliteFile): OpenFile['count'] {
  const upsert = file.prepare(UPSERT)
  const countAll = file.transaction((counts: readonly KeyCount[]): Counted[] => {
    const now = Date.now()
    return counts.map(({ key, requests, window }) => {
      const row = upsert.get(key, requests, now + window * 1000, now, now, now, now) as {
        points: number
        expire: number
      }
      return { consumed: row.points, resetIn: row.expire - now }
    })
  })
  return (counts) => countAll.immediate(counts)
}

/** Tries again while another process writes. SQLite's own wait would block the event loop. */
async function whenFree<T>(act: () => T): Promise<T> {
  const end = performance.now() + PATIENCE
  for (;;)
    try {
      return act()
    } catch (error) {
      if (!errorCode(error).startsWith('SQLITE_BUSY') || performance.now() > end) throw error
      await wait(1 + Math.random() * 4)
    }
}
