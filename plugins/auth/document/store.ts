/*
 * MongoDB changes one document atomically without a transaction, so every change here is one operation with its
 * condition. Where SQL reads two tables in one statement, the written document is compared with the user afterwards: a
 * session of an earlier password is invalid even if its document still exists, since the flows compare versions on each
 * read. Checked by the store suite and the races in test/plugins/auth.
 */
import type {
  AuthStore,
  NewUser,
  PasswordChange,
  Rotation,
  StoredResetToken,
  StoredSession,
  StoredUser,
} from '../accounts/auth-store.ts'
import { createRun, serverTime, type Document, type DocumentDatabase, type Run } from './connection.ts'
import { endedSessionOperations } from './ended-sessions.ts'
import {
  newUserDocument,
  resetTokenDocument,
  resetTokenOf,
  sessionDocument,
  sessionOf,
  userOf,
  type UserFields,
} from './documents.ts'

/**
 * Creates the store on MongoDB. `source` is called for each operation, so it may connect after the store is created.
 * `fields` are the application's fields of `auth_users`.
 */
export function createDocumentStore(source: () => DocumentDatabase, fields: UserFields = {}): AuthStore {
  const run = createRun(source)
  return {
    now: () => serverTime(source()),
    ...userOperations(run, fields),
    ...sessionOperations(run),
    ...endOfSessionOperations(run),
    ...endedSessionOperations(run, source),
    ...resetTokenOperations(run),
    async deleteExpired(now: number) {
      for (const collection of ['auth_refresh_tokens', 'auth_reset_tokens', 'auth_ended_sessions'] as const)
        await run(collection, (expired) => expired.deleteMany({ expires_at: { $lte: now } }))
    },
  }
}

function userOperations(run: Run, fields: UserFields) {
  const find = async (filter: Document) => {
    const found = await run('auth_users', (users) => users.findOne(filter))
    return found && userOf(found, fields)
  }
  const update = async (filter: Document, change: Document) => {
    const { matchedCount } = await run('auth_users', (users) => users.updateOne(filter, change))
    return matchedCount === 1
  }
  return {
    async insertUser(user: NewUser) {
      const document = newUserDocument(user, fields)
      const inserted = await unlessTaken(run('auth_users', (users) => users.insertOne(document)))
      return inserted ? userOf(document, fields) : null
    },

    async findUserByEmail(email: string) {
      const user = await find({ email: { $eq: email } })
      // A collection may have a collation that ignores case or accents.
      return user?.email === email ? user : null
    },

    findUserById: (id: string) => find({ _id: { $eq: id } }),

    async findUserOfSession(sessionId: string, userId: string) {
      const [user, found] = await Promise.all([
        find({ _id: { $eq: userId } }),
        run('auth_refresh_tokens', (sessions) => sessions.findOne({ _id: sessionId, user_id: userId })),
      ])
      return user && found && { user, session: sessionOf(found) }
    },
    ...accountOperations(update),
  }
}

/** Changes one user by a filter. Resolves to true if a user matched. */
type Update = (filter: Document, change: Document) => Promise<boolean>

function accountOperations(update: Update) {
  return {
    setDisabled: (userId: string, isDisabled: boolean, now: number) => {
      const moment = new Date(now)
      return update(
        { _id: userId },
        isDisabled
          ? {
              $set: { disabled_at: moment, updated_at: moment, kept_session_id: null },
              $inc: { password_version: 1 },
            }
          : { $set: { disabled_at: null, updated_at: moment } },
      )
    },

    setPassword: ({ userId, passwordHash, keptSession, now, version, emailVerifiedAt }: PasswordChange) =>
      update(
        { _id: userId, ...(version !== undefined && { password_version: version }) },
        {
          $set: {
            password_hash: passwordHash,
            kept_session_id: keptSession,
            updated_at: new Date(now),
            ...(emailVerifiedAt !== undefined && { email_verified_at: new Date(emailVerifiedAt) }),
          },
          $inc: { password_version: 1 },
        },
      ),

    rehashPassword: (userId: string, from: string, to: string) =>
      update({ _id: userId, password_hash: from }, { $set: { password_hash: to } }),
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
        users.findOne({ _id: userId, password_version: passwordVersion, disabled_at: null }),
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
  const idsOf = (filter: Document, options: object = {}) =>
    run('auth_refresh_tokens', async (sessions) => {
      const found = await sessions.find(filter, { projection: { _id: 1 }, ...options }).toArray()
      return found.map((session) => String((session as Document)['_id']))
    })
  const ended = async (userId: string): Promise<Document> => {
    const found = await run('auth_users', (users) => users.findOne({ _id: userId }))
    return found === null ? { user_id: userId } : endedBy(userOf(found, {}))
  }
  return {
    findSessionIds: (userId: string) => idsOf({ user_id: userId }, { sort: { created_at: -1, _id: -1 } }),

    findEndedSessions: async (userId: string) => idsOf(await ended(userId)),

    async deleteEndedSessions(userId: string) {
      const filter = await ended(userId)
      await run('auth_refresh_tokens', (sessions) => sessions.deleteMany(filter))
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
        const newest = { sort: { created_at: -1, _id: -1 }, limit: keep }
        const last = (await tokens.find({ user_id: token.userId }, newest).toArray())[keep - 1]
        if (last) await tokens.deleteMany(olderThan(resetTokenOf(last)))
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
      await run('auth_reset_tokens', (tokens) => tokens.deleteMany({ user_id: userId }))
    },
  }
}

/** Deletes by order and not by a list of ids, so that a token that is added meanwhile is never deleted. */
function olderThan({ userId, createdAt, tokenHash }: StoredResetToken): Document {
  return {
    user_id: userId,
    $or: [{ created_at: { $lt: createdAt } }, { created_at: createdAt, _id: { $lt: tokenHash } }],
  }
}

const DUPLICATE_KEY = 11_000

async function unlessTaken(insertion: Promise<unknown>): Promise<boolean> {
  try {
    await insertion
    return true
  } catch (error) {
    if ((error as { code?: unknown }).code === DUPLICATE_KEY) return false
    throw error
  }
}
