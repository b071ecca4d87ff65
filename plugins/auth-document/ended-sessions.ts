import type { EndedSessionReader } from '@mortar/auth'
import type { Logger } from 'mortar'
import { createFollowerClock } from './clock.ts'
import { createHedge } from 'mortar/kit'
import { createRun, type Document, type DocumentDatabase, type Run } from './connection.ts'

/** Time limit of the first read, which reads the whole collection while no request waits for it. */
const FIRST_DEADLINE = 30_000

/** Settings of the reader of ended sessions. */
export interface ReaderSettings {
  /** Receives a warning when clocks differ. */
  readonly logger?: Logger
  /** The clock that dates tokens, in milliseconds since the epoch; `Date.now` by default. */
  readonly now?: () => number
  /** A monotonic clock in milliseconds; `performance.now` by default. */
  readonly time?: () => number
}

/** Operations of the store on ended sessions. */
export function endedSessionOperations(run: Run, source: () => DocumentDatabase, settings: ReaderSettings) {
  /** One command for any number of sessions, because the publication has a time limit. */
  async function publishAll(ids: readonly string[], expiresAt: number): Promise<void> {
    if (ids.length === 0) return
    const update = { $set: { expires_at: expiresAt }, $currentDate: { ended_at: true } }
    const writes = ids.map((id) => ({ updateOne: { filter: { _id: id }, update, upsert: true } }))
    await run('auth_ended_sessions', (ended) => ended.bulkWrite(writes as never[], { ordered: false }))
  }
  return {
    publishEnded: (id: string, expiresAt: number) => publishAll([id], expiresAt),

    async publishEndedOf(userId: string, version: number, expiresAt: number, kept = '') {
      const filter = { user_id: userId, password_version: { $lte: version }, _id: { $ne: kept } }
      const sessions = await run('auth_refresh_tokens', (tokens) =>
        tokens.find(filter, { projection: { _id: 1 } }).toArray(),
      )
      const ids = sessions.map((session) => String((session as Document)['_id']))
      await publishAll(ids, expiresAt)
      return ids
    },

    hasEnded: async (id: string) =>
      (await run('auth_ended_sessions', (ended) => ended.findOne({ _id: { $eq: id } }))) !== null,

    readEnded: (deadline: number) => readEndedSessions(source, deadline, settings),
  }
}

/** Ids in one deletion. */
const BATCH = 1000

/**
 * Deletes expired records, each after its session: a process that ended in the middle of a logout has left the session,
 * which only the record makes invalid.
 */
export async function deleteExpiredEnds(run: Run, now: number): Promise<number> {
  const options = { projection: { _id: 1 }, limit: BATCH }
  for (let deleted = 0; ;) {
    const expired = await run('auth_ended_sessions', (ended) =>
      ended.find({ expires_at: { $lte: now } }, options).toArray(),
    )
    if (expired.length === 0) return deleted
    const filter = { _id: { $in: expired.map((record) => (record as Document)['_id']) } }
    await run('auth_refresh_tokens', (sessions) => sessions.deleteMany(filter))
    const old = { ...filter, expires_at: { $lte: now } }
    deleted += (await run('auth_ended_sessions', (ended) => ended.deleteMany(old))).deletedCount
    if (expired.length < BATCH) return deleted
  }
}

/** Reads with a time limit of its own, over the application's connections: the driver has no others. */
function readEndedSessions(
  source: () => DocumentDatabase,
  deadline: number,
  settings: ReaderSettings,
): EndedSessionReader {
  let milliseconds = FIRST_DEADLINE
  const limit = () => milliseconds
  const run = createRun(source, limit)
  const hedge = createHedge()
  const clock = createFollowerClock({ run, source, limit, ...settings })
  return {
    reportsClock: settings.logger !== undefined,
    async since(moment) {
      // Before the look-up: the next one has to cover whatever is stored after this time.
      const now = await clock.read()
      const filter = { ended_at: { $gte: new Date(moment) } }
      const look = () => run('auth_ended_sessions', (ended) => ended.find(filter).toArray())
      const found = await hedge(look)
      milliseconds = deadline
      const sessions = (found as Document[]).map((one) => ({
        id: String(one['_id']),
        until: Number(one['expires_at']),
      }))
      return { sessions, now }
    },
    close: () => undefined,
  }
}
