import { ignore, inTime, lateDatabase } from 'mortar/kit'
import type { SessionOwner, StoredSession, StoredUser } from '../accounts/auth-store.ts'
import { cannotEndSession, MissingTable } from '../errors.ts'
import { despiteLostReply } from './lost-reply.ts'
import type { AuthParts } from './parts.ts'
import type { Grant } from './proof.ts'

export type { Grant }

/** Every session begins with a password, named as in RFC 8176. */
export const METHODS: readonly string[] = ['pwd']

/** A session and the methods by which its user was authenticated. */
export interface ProvenSession extends StoredSession {
  readonly methods: readonly string[]
}

/** Returns the methods of a stored session: a password, and what a feature has noted besides. */
export async function methodsOf({ features }: AuthParts, sessionId: string): Promise<readonly string[]> {
  for (const feature of features) {
    const methods = await feature.methodsOf?.(sessionId)
    if (methods !== undefined) return methods
  }
  return METHODS
}

/** @returns a new access token of a session, with its current refresh token. */
export function grantFor(
  parts: AuthParts,
  user: StoredUser,
  session: ProvenSession,
  refreshToken: string,
): Grant {
  const { token, expiresIn } = signFor(parts, user, session)
  const refreshAge = Math.max(0, Math.ceil((session.expiresAt - parts.clock.now()) / 1000))
  return { sessionId: session.id, user, accessToken: token, expiresIn, refreshToken, refreshAge }
}

/** Signs an access token of a session. The session began with the proof, and a refresh changes neither moment nor method. */
export function signFor(
  { accessTokens }: AuthParts,
  { id: sub, raw }: StoredUser,
  { id: sid, createdAt, methods, expiresAt: endsAt }: ProvenSession,
): ReturnType<AuthParts['accessTokens']['sign']> {
  return accessTokens.sign({ sub, sid, user: raw, authenticatedAt: createdAt, methods, endsAt })
}

/** True for a session that has not expired, idled or been ended by a new password, and whose account is enabled. */
export function isAlive(
  parts: AuthParts,
  session: SessionOwner['session'],
  user: StoredUser | null,
): user is StoredUser {
  if (user === null || user.isDisabled || session.expiresAt <= parts.clock.now()) return false
  if (isIdle(parts, session)) return false
  return user.passwordVersion === session.passwordVersion || user.keptSession === session.id
}

/**
 * The last rotation dates the last use to within one access-token lifetime, so the idle timeout needs no extra write.
 */
function isIdle({ lifetimes, rotations }: AuthParts, { rotatedAt }: SessionOwner['session']): boolean {
  return lifetimes.idle !== undefined && rotations.roughly() - rotatedAt > lifetimes.idle * 1000
}

/**
 * Ends a session everywhere: its access tokens in this process immediately, in others with their next read, and its
 * refresh token by deleting the row. The end is published first, so that a crash in between leaves no valid token. A
 * deletion whose reply is lost comes again, because a flow that fails would have ended the session.
 * @returns false if the row was deleted before.
 * @throws ServiceUnavailable if the end cannot be published; then nothing has changed.
 */
export async function endSession(parts: AuthParts, id: string): Promise<boolean> {
  await publishOne(parts, id)
  const remove = () => parts.store.deleteSession(id)
  return despiteLostReply(remove, () => remove().then(() => true))
}

/** Deletes the session of a request that fails: nobody gets its tokens, so no other process has to know. */
export async function orForget<T>(
  { store }: AuthParts,
  sessionId: string,
  work: () => Promise<T>,
): Promise<T> {
  try {
    return await work()
  } catch (error) {
    await store.deleteSession(sessionId).catch(ignore)
    throw error
  }
}

function publishOne(parts: AuthParts, id: string): Promise<void> {
  return publish(parts, async (expiresAt) => {
    await parts.store.publishEnded(id, expiresAt)
    return [id]
  })
}

/**
 * Ends the access tokens of all sessions of a user up to this password version, but those of the session `kept`. Call it before the statement that
 * raises the version.
 * @throws ServiceUnavailable if the end cannot be published; then nothing has changed.
 */
export async function endAccessTokens(
  parts: AuthParts,
  userId: string,
  version: number,
  kept?: string,
): Promise<void> {
  await publish(parts, (expiresAt) => parts.store.publishEndedOf(userId, version, expiresAt, kept))
}

async function publish(
  parts: AuthParts,
  store: (expiresAt: number) => Promise<readonly string[]>,
): Promise<void> {
  const { endedSessions } = parts
  const expiresAt = endedSessions.expiry()
  const publishOnce = () => store(expiresAt + Math.max(0, endedSessions.storeAhead))
  let ids: readonly string[]
  try {
    // Twice, because a publication whose reply is lost has ended the sessions of a flow that fails.
    const published = publishOnce().catch(publishOnce)
    ids = await inTime(published, PUBLISH_DEADLINE, () => lateDatabase(PUBLISH_DEADLINE))
  } catch (error) {
    throw error instanceof MissingTable ? error : cannotEndSession(error)
  }
  for (const id of ids) endedSessions.end(id, expiresAt)
}

/** Milliseconds. Shorter than the overlap of two reads, so that no reader misses a statement that waits. */
const PUBLISH_DEADLINE = 5000

/** Ends the session of a refresh token of any generation. @returns the session, or null. */
export async function endSessionOf(
  parts: AuthParts,
  refreshToken: string | null,
): Promise<StoredSession | null> {
  const hashes = parts.refreshTokens.hashes(refreshToken)
  if (hashes === null) return null
  const find = () => parts.store.findSession(hashes.familyHash)
  // Twice, because a failure would cost a login its code.
  const session = await find().catch(find)
  if (session) await endSession(parts, session.id)
  return session
}

/**
 * Ends every session of a user, including logins in progress: the password stays and its version rises. A concurrent
 * password change keeps no session alive either.
 */
export async function endEverySession(parts: AuthParts, userId: string): Promise<void> {
  for (;;) {
    const user = await parts.store.findUserById(userId)
    if (user === null) return clearAfterNewPassword(parts, userId)
    if (await endOtherSessions(parts, user)) return
  }
}

/**
 * Ends every session of a user but `kept`, by the statement that raises the password version and stores the hash of `user`.
 * @returns false if the account has changed since it was read, which may have ended that session too.
 */
export async function endOtherSessions(parts: AuthParts, user: StoredUser, kept?: string): Promise<boolean> {
  const { id: userId, passwordHash, passwordVersion: version } = user
  await endAccessTokens(parts, userId, version, kept)
  const again = { userId, passwordHash, keptSession: kept ?? null, now: parts.clock.now(), version }
  const isDone = await parts.store.setPassword(again)
  if (isDone) await clearAfterNewPassword(parts, userId)
  return isDone
}

/**
 * Disables an account: one statement refuses logins, refreshes and reset tokens from then on, and ends every session.
 * @returns false for an unknown user.
 */
export async function disableUser(parts: AuthParts, userId: string): Promise<boolean> {
  const user = await parts.store.findUserById(userId)
  if (user !== null) await endAccessTokens(parts, userId, user.passwordVersion)
  const isKnown = await parts.store.setDisabled(userId, true, parts.clock.now())
  // Again, because a deletion that has failed, or has read the account before, has marked the version of that statement.
  if (parts.tables.some(({ shape }) => shape.marksDeletion))
    await parts.store.setDisabled(userId, true, parts.clock.now())
  await clearAfterNewPassword(parts, userId)
  return isKnown
}

/** Lets a disabled account log in again; its old sessions stay ended. @returns false for an unknown user. */
export function enableUser(parts: AuthParts, userId: string): Promise<boolean> {
  return parts.store.setDisabled(userId, false, parts.clock.now())
}

/** Milliseconds for which a response waits for the clean-up after a new password; then the clean-up continues alone. */
const CLEAN_UP_WAIT = 5000
/** Maximum users whose clean-up is repeated later. The rest is deleted when it expires. */
const MOST_UNFINISHED = 1000

/**
 * Deletes sessions and reset tokens of earlier password versions. They are already invalid, so a failure is only
 * logged, and the flow that raised the version succeeds. A step that fails is repeated once, and later by housekeeping.
 */
export async function clearAfterNewPassword(parts: AuthParts, userId: string): Promise<void> {
  await inTime(clearAll(parts, userId), CLEAN_UP_WAIT, () => lateDatabase(CLEAN_UP_WAIT)).catch(ignore)
}

async function clearAll(parts: AuthParts, userId: string): Promise<void> {
  const steps = [() => clearSessions(parts, userId), () => parts.store.deleteResetTokens(userId)]
  const results = await Promise.allSettled(steps.map((step) => step().catch(step)))
  const failed = results.find((result) => result.status === 'rejected')
  parts.unfinished.delete(userId)
  if (failed === undefined) return
  if (parts.unfinished.size < MOST_UNFINISHED) parts.unfinished.add(userId)
  parts.outages.log({
    part: 'clean-up of sessions',
    error: failed.reason,
    message: 'Sessions and reset tokens that have ended could not be deleted',
    fields: { userId },
  })
}

/**
 * Deletes the sessions of a user that have ended. A session can have begun between `endAccessTokens` and the statement that raised the version. Sessions that are
 * already published are published again: if that publication took longer than the overlap of two reads, other
 * processes have missed it.
 */
export async function clearSessions(parts: AuthParts, userId: string): Promise<void> {
  for (const id of await parts.store.findEndedSessions(userId)) await publishOne(parts, id)
  await parts.store.deleteEndedSessions(userId)
}
