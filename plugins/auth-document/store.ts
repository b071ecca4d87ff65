/*
 * MongoDB changes one document atomically without a transaction, so every change here is one operation with its
 * condition. Where SQL reads two tables in one statement, the written document is compared with the user afterwards: a
 * session of an earlier password is invalid even if its document still exists, since the flows compare versions on each
 * read. Checked by the store suite and the races in test/plugins/auth.
 */
import type { AuthStore, Rotation, StoredResetToken, StoredSession, StoredUser } from '@mortar/auth'
import { createRun, OPERATION_TIMEOUT, type Document, type DocumentDatabase, type Run } from './connection.ts'
import { databaseTime } from './clock.ts'
import { deleteExpiredEnds, endedSessionOperations, type ReaderSettings } from './ended-sessions.ts'
import {
  resetTokenDocument,
  resetTokenOf,
  sessionDocument,
  sessionOf,
  userOf,
  type UserFields,
} from './documents.ts'
import { userKey } from './user-keys.ts'
import { userOperations } from './user-operations.ts'

/** Settings of the store. */
export interface DocumentStoreSettings extends ReaderSettings {
  /** The application's fields of `auth_users`. */
  readonly fields?: UserFields
  /** Milliseconds that one operation may take. */
  readonly timeout?: number
}

/** Creates the store on MongoDB. `source` is called for each operation, so it may connect after the store is created. */
export function createDocumentStore(
  source: () => DocumentDatabase,
  { fields = {}, timeout = OPERATION_TIMEOUT, ...reader }: DocumentStoreSettings = {},
): AuthStore {
  const run = createRun(source, () => timeout)
  return {
    now: () => databaseTime(run),
    ...userOperations(run, fields),
    ...sessionOperations(run),
    ...endOfSessionOperations(run),
    ...endedSessionOperations(run, source, reader),
    ...resetTokenOperations(run),
    async deleteExpired(now: number, storeNow = now) {
      const deleteFrom = async (collection: 'auth_refresh_tokens' | 'auth_reset_tokens') =>
        (await run(collection, (expired) => expired.deleteMany({ expires_at: { $lte: now } }))).deletedCount
      const sessions = await deleteFrom('auth_refresh_tokens')
      const resetTokens = await deleteFrom('auth_reset_tokens')
      return { sessions, resetTokens, endedSessions: await deleteExpiredEnds(run, storeNow) }
    },
  }
}

function sessionOperations(run: Run) {
  const deleteSession = async (id: string) => {
    const { deletedCount } = await run('auth_refresh_tokens', (sessions) => sessions.deleteOne({ _id: id }))
    return deletedCount === 1
  }
  return {
    deleteSession,

    async insertSession(session: StoredSession) {
      const { id, userId, passwordVersion } = session
      await run('auth_refresh_tokens', (sessions) => sessions.insertOne(sessionDocument(session)))
      // After the insertion, so that either this check sees a new password, or the password change sees and ends this
      // session.
      const user = await run('auth_users', (users) =>
        users.findOne({ _id: userKey(userId), password_version: passwordVersion, disabled_at: null }),
      )
      if (user === null) await deleteSession(id)
      return user !== null
    },

    async findSession(familyHash: string) {
      const found = await run('auth_refresh_tokens', (sessions) =>
        sessions.findOne({ family_hash: familyHash }),
      )
      return found && sessionOf(found)
    },

    async rotateSession({ id, from, to, now }: Rotation) {
      const tokens = { token_hash: to, previous_hash: from }
      const change =
        now === undefined
          ? { $set: tokens, $currentDate: { rotated_at: true } }
          : { $set: { ...tokens, rotated_at: now } }
      const { matchedCount } = await run('auth_refresh_tokens', (sessions) =>
        sessions.updateOne({ _id: id, token_hash: from }, change),
      )
      return matchedCount === 1
    },
  }
}

function endOfSessionOperations(run: Run) {
  const idsOf = (filter: Document) =>
    run('auth_refresh_tokens', async (sessions) => {
      const found = await sessions.find(filter, { projection: { _id: 1 } }).toArray()
      return found.map((session) => String((session as Document)['_id']))
    })
  const ended = async (userId: string): Promise<Document> => {
    const found = await run('auth_users', (users) => users.findOne({ _id: userKey(userId) }))
    return found === null ? { user_id: userId } : endedBy(userOf(found, {}))
  }
  return {
    async findSessions(userId: string) {
      const newest = { sort: { created_at: -1, _id: -1 } }
      const found = await run('auth_refresh_tokens', (sessions) =>
        sessions.find({ user_id: userId }, newest).toArray(),
      )
      return found.map(sessionOf)
    },

    findEndedSessions: async (userId: string) => idsOf(await ended(userId)),

    async deleteEndedSessions(userId: string) {
      const filter = { _id: { $in: await idsOf(await ended(userId)) } }
      const published = await run('auth_ended_sessions', (records) =>
        records.find(filter, { projection: { _id: 1 } }).toArray(),
      )
      const ids = published.map((record) => (record as Document)['_id'])
      await run('auth_refresh_tokens', (sessions) => sessions.deleteMany({ _id: { $in: ids } }))
    },
  }
}

/** Compares by `<`, not by inequality: a session of a newer password may already exist. */
function endedBy({ id, passwordVersion, keptSession }: StoredUser): Document {
  return { user_id: id, password_version: { $lt: passwordVersion }, _id: { $ne: keptSession } }
}

function resetTokenOperations(run: Run) {
  return {
    async insertResetToken(token: StoredResetToken, keep: number) {
      await run('auth_reset_tokens', async (tokens) => {
        await tokens.insertOne(resetTokenDocument(token))
        const latest = { sort: { expires_at: -1, created_at: -1, _id: -1 }, limit: keep }
        const last = (await tokens.find({ user_id: token.userId }, latest).toArray())[keep - 1]
        if (last) await tokens.deleteMany(before(resetTokenOf(last)))
      })
    },

    async findResetToken(tokenHash: string, now: number) {
      const found = await run('auth_reset_tokens', (tokens) =>
        tokens.findOne({ _id: { $eq: tokenHash }, expires_at: { $gt: now } }),
      )
      return found && resetTokenOf(found)
    },

    async takeResetToken(tokenHash: string, now: number) {
      const { deletedCount } = await run('auth_reset_tokens', (tokens) =>
        tokens.deleteOne({ _id: tokenHash, expires_at: { $gt: now } }),
      )
      return deletedCount === 1
    },

    async deleteResetTokens(userId: string) {
      const user = await run('auth_users', (users) => users.findOne({ _id: userKey(userId) }))
      // A token of a newer version may already exist.
      const versions = user && [{ $lt: userOf(user, {}).passwordVersion }, null]
      const ended = versions && { $or: versions.map((version) => ({ password_version: version })) }
      await run('auth_reset_tokens', (tokens) => tokens.deleteMany({ user_id: userId, ...ended }))
    },
  }
}

/** Deletes by order and not by a list of ids, so that a token that is added meanwhile is never deleted. */
function before({ userId, expiresAt, createdAt, tokenHash }: StoredResetToken): Document {
  return {
    user_id: userId,
    $or: [
      { expires_at: { $lt: expiresAt } },
      { expires_at: expiresAt, created_at: { $lt: createdAt } },
      { expires_at: expiresAt, created_at: createdAt, _id: { $lt: tokenHash } },
    ],
  }
}
