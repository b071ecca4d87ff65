import { setTimeout as wait } from 'node:timers/promises'
import { flexibleStore, UNLIMITED_POINTS, type FlexibleLimiter } from '../../../src/index.ts'
import { loadRateLimiters } from '../peers.ts'
import { TABLE, type DataSourceLike, type SqliteDriver, type SqliteFile } from './data-source.ts'
import type { DatabaseCounters } from './database-counters.ts'

/** Milliseconds for which a busy file is tried again. */
const PATIENCE = 1000

/**
 * Counters in a SQLite file beside that of the application, because SQLite has one writer: a transaction of the
 * application would block the counts, or take them back.
 * @returns undefined for a database in memory.
 */
export function sqliteCounters({
  driver,
  options: { database },
}: DataSourceLike): DatabaseCounters | undefined {
  if (typeof database !== 'string' || ['', ':memory:'].includes(database)) return undefined
  let opened: { readonly file: SqliteFile; readonly limiter: FlexibleLimiter } | undefined
  const open = (): NonNullable<typeof opened> => {
    if (opened) return opened
    const file = openFile(driver, `${database}.limits`)
    return (opened = { file, limiter: limiterOf(file) })
  }
  const disconnect = (): void => {
    opened?.file.close()
    opened = undefined
  }
  const limiter: FlexibleLimiter = {
    consume: (...call) => whenFree(() => open().limiter.consume(...call)),
    reward: (...call) => whenFree(() => open().limiter.reward(...call)),
    delete: (...call) => whenFree(() => open().limiter.delete(...call)),
  }
  return {
    ...flexibleStore(limiter, { isReady: () => true, reset: disconnect }),
    disconnect,
    prepare: () => whenFree(() => void open()),
    isMissingTable: () => false,
    deleteExpired: (now, most) =>
      whenFree(() => {
        const expired = `SELECT key FROM ${TABLE} WHERE expire < ? LIMIT ${most}`
        return open().file.prepare(`DELETE FROM ${TABLE} WHERE key IN (${expired})`).run(now).changes
      }),
  }
}

/** Nothing waits for the disk: a power failure may reset the counters. */
function openFile({ sqlite: Sqlite }: SqliteDriver, path: string): SqliteFile {
  const file = new Sqlite!(path, { timeout: 0 })
  try {
    file.exec('PRAGMA journal_mode = WAL; PRAGMA synchronous = OFF')
    file.exec(
      `CREATE TABLE IF NOT EXISTS ${TABLE} (key TEXT PRIMARY KEY, points INTEGER NOT NULL, expire INTEGER) WITHOUT ROWID;
       CREATE INDEX IF NOT EXISTS ${TABLE}_expire ON ${TABLE} (expire)`,
    )
    return file
  } catch (error) {
    file.close()
    throw error
  }
}

function limiterOf(file: SqliteFile): FlexibleLimiter {
  return new (loadRateLimiters().RateLimiterSQLite)({
    storeClient: file,
    storeType: 'better-sqlite3',
    points: UNLIMITED_POINTS,
    duration: 1,
    keyPrefix: '',
    tableName: TABLE,
    tableCreated: true,
    clearExpiredByTimeout: false,
  })
}

/** Tries again while another process writes. SQLite's own wait would block the event loop. */
async function whenFree<T>(act: () => T | Promise<T>): Promise<T> {
  const end = performance.now() + PATIENCE
  for (;;)
    try {
      return await act()
    } catch (error) {
      const isBusy = String((error as { readonly code?: unknown }).code).startsWith('SQLITE_BUSY')
      if (!isBusy || performance.now() > end) throw error
      await wait(1 + Math.random() * 4)
    }
}
