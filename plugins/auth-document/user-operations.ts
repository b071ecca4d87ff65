import type { EmailChange, NewUser, PasswordChange, UserQuery } from '@mortar/auth'
import { DatabaseUnavailable } from '@mortar/auth/provider'
import type { Document, Run } from './connection.ts'
import { newUserDocument, sessionOf, userOf, type UserFields } from './documents.ts'
import { isDeadlock, isDuplicateKey } from './driver-error.ts'
import { isObjectIdText, userKey } from './user-keys.ts'

/** The operations of the store on `auth_users`. */
export function userOperations(run: Run, fields: UserFields) {
  const find = async (filter: Document) => {
    const found = await run('auth_users', (users) => users.findOne(filter))
    return found && userOf(found, fields)
  }
  const findById = async (id: string) => {
    const found = await run('auth_users', (users) => users.find({ _id: userKey(id) }, { limit: 2 }).toArray())
    if (found.length > 1) throw new Error(TWINS)
    return found[0] === undefined ? null : userOf(found[0], fields)
  }
  const update = async (filter: Document, change: Document) => {
    const { matchedCount } = await run('auth_users', (users) => users.updateOne(filter, change))
    return matchedCount === 1
  }
  return {
    async insertUser(user: NewUser) {
      const document = newUserDocument(user, fields)
      return (await insertUnlessTaken(run, document)) ? userOf(document, fields) : null
    },

    async findUserByEmail(email: string) {
      const user = await find({ email: { $eq: email } })
      // A collection may have a collation that ignores case or accents.
      if (user?.email !== email) return null
      // The look-up by identity detects another user with the same one.
      return isObjectIdText(user.id) ? findById(user.id) : user
    },

    findUserById: findById,

    async findUsers({ search, after, limit }: UserQuery) {
      const part = { $regex: search.replaceAll(/[$()*+.?[\\\]^{|}]/g, '\\$&'), $options: 'i' }
      const filter = {
        email: { $gt: after },
        ...(search !== '' && { $or: [{ email: part }, { name: part }] }),
      }
      const found = await run('auth_users', (users) =>
        users.find(filter, { sort: { email: 1 }, limit }).toArray(),
      )
      return found.map((user) => userOf(user, fields))
    },

    async findUserOfSession(sessionId: string, userId: string) {
      const [user, found] = await Promise.all([
        findById(userId),
        run('auth_refresh_tokens', (sessions) => sessions.findOne({ _id: sessionId, user_id: userId })),
      ])
      return user && found && { user, session: sessionOf(found) }
    },
    ...accountOperations(update),
    deleteUser: (userId: string, version: number) => deleteUser(run, userId, version),
  }
}

async function deleteUser(run: Run, userId: string, version: number): Promise<boolean> {
  const filter = { _id: userKey(userId), password_version: version, disabled_at: { $ne: null } }
  const { deletedCount } = await run('auth_users', (users) => users.deleteOne(filter))
  return deletedCount === 1
}

/** Changes one user by a filter. Resolves to true if a user matched. */
type Update = (filter: Document, change: Document) => Promise<boolean>

function accountOperations(update: Update) {
  return {
    setDisabled: (userId: string, isDisabled: boolean, now: number, version?: number) => {
      const moment = new Date(now)
      return update(
        { _id: userKey(userId), ...(version !== undefined && { password_version: version }) },
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
        { _id: userKey(userId), ...(version !== undefined && { password_version: version }) },
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

    setEmail: (change: EmailChange) => setEmail(update, change),

    rehashPassword: (userId: string, from: string, to: string) =>
      update({ _id: userKey(userId), password_hash: from }, { $set: { password_hash: to } }),
  }
}

async function setEmail(
  update: Update,
  { userId, from, to, version, now, endsSessions }: EmailChange,
): Promise<'changed' | 'over' | 'taken'> {
  const moment = new Date(now)
  const proven = { email: to, email_verified_at: moment, updated_at: moment }
  const filter = { _id: userKey(userId), email: { $eq: from }, password_version: version, disabled_at: null }
  const change = endsSessions
    ? { $set: { ...proven, kept_session_id: null }, $inc: { password_version: 1 } }
    : { $set: proven }
  try {
    return (await update(filter, change)) ? 'changed' : 'over'
  } catch (error) {
    if (isDuplicateKey(error)) return 'taken'
    throw error
  }
}

const TWINS =
  'Two documents of auth_users have the same identity: one _id is an ObjectId, the other is text with the same digits.'

/** Attempts of a signup that loses to others on a server that stops all but one of them by a deadlock. */
const MOST_ATTEMPTS = 3

/** @returns false if the address is taken. */
async function insertUnlessTaken(run: Run, document: Document): Promise<boolean> {
  for (let attempt = 1; ; attempt++)
    try {
      await run('auth_users', (users) => users.insertOne(document))
      return true
    } catch (error) {
      if (isDuplicateKey(error)) return false
      if (!isDeadlock(error)) throw error
      const filter = { email: { $eq: document['email'] } }
      if (await run('auth_users', (users) => users.findOne(filter))) return false
      if (attempt === MOST_ATTEMPTS) throw new DatabaseUnavailable(error)
    }
}
