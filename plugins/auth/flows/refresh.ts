/*
 * Rotation without lost sessions. One conditional update exchanges the current refresh token for its successor. A
 * client that loses that race, or lost the response, presents the immediate predecessor and receives the same successor
 * within the grace time. A token of an older generation was copied: the session ends.
 *
 * One case looks like theft but is not: an exchange waits (for a connection, in a busy process) while its client gives
 * up, repeats it in another process and continues. When the first exchange reads the session, its token is generations
 * old. So a token is judged by the time at which its request arrived, and a request whose client has left never counts
 * as theft. Such an exchange gets no token either, so a thief gains nothing by imitating it.
 *
 * During the roll-out of a new secret a process may receive the predecessor of a token that another process made with
 * an unknown secret. It cannot make that token again, and responds 503 so that the client tries again. Tests:
 * test/plugins/auth/refresh.test.ts, roll-out.test.ts, rotation-model.test.ts and fleet/fleet.test.ts.
 */
import { setImmediate, setTimeout } from 'node:timers/promises'
import { invalidSession, OvertakenRefresh, SessionGone, TokenReused, unknownSecret } from '../errors.ts'
import type { RefreshTokenHashes } from '../tokens/refresh-tokens.ts'
import type { Rotation, StoredSession, StoredUser } from '../accounts/auth-store.ts'
import { despiteLostReply } from './lost-reply.ts'
import { withEvent, type Known } from './outcome.ts'
import { countAttempt, type AuthParts, type Caller } from './parts.ts'
import { endSession, grantFor, isAlive, methodsOf, type Grant, type ProvenSession } from './sessions.ts'

/**
 * Exchanges a refresh token.
 * @throws Unauthorized `invalid_session` if the token has no active session; LimitReached; ServiceUnavailable if only a
 * process with a newer secret can make the successor.
 */
export type Refresh = (presented: string | null, caller: Caller) => Promise<Grant>

/**
 * Creates the refresh flow. Concurrent requests with the same token in one process share one exchange, so that several
 * tabs count once against the limit.
 */
export function createRefresh(parts: AuthParts): Refresh {
  const running = new Map<string, Promise<Grant>>()

  const exchangeOnce: Refresh = async (presented, caller) => {
    const hashes = parts.refreshTokens.hashes(presented)
    if (presented === null || hashes === null) throw invalidSession()
    // No await if no exchange runs, so that requests of one event-loop turn share an exchange.
    const known = running.has(hashes.hash) ? await running.get(hashes.hash)!.catch(unlessOvertaken) : null
    if (known) return shared(parts, known, hashes)
    const begun = rotate(parts, { presented, hashes, caller }).finally(() => running.delete(hashes.hash))
    running.set(hashes.hash, begun)
    return begun
  }
  return (presented, caller) => {
    const known: Known = {}
    return withEvent(parts, { flow: 'refresh', caller, known }, async () => {
      const grant = await exchangeOnce(presented, caller)
      Object.assign(known, { userId: grant.user.id, sessionId: grant.sessionId })
      return grant
    })
  }
}

/** An overtaken exchange concerns its own caller only; another caller starts its own exchange. */
function unlessOvertaken(error: unknown): null {
  if (error instanceof OvertakenRefresh) return null
  throw error
}

/** An earlier exchange may have missed that the session ended, here or in another process. */
async function shared(parts: AuthParts, grant: Grant, { familyHash }: RefreshTokenHashes): Promise<Grant> {
  const session = await parts.store.findSession(familyHash)
  const user = session && (await parts.store.findUserById(session.userId))
  if (session && isAlive(parts, session, user) && !(await hasEnded(parts, session))) return grant
  throw new SessionGone()
}

interface Presented {
  readonly presented: string
  readonly hashes: RefreshTokenHashes
  readonly caller: Caller
}

/** A presented token with its time of arrival by the rotation clock. */
interface Attempt extends Presented {
  readonly arrivedAt: (now: number) => number
}

async function rotate(parts: AuthParts, attempted: Presented): Promise<Grant> {
  const { hashes, caller } = attempted
  const attempt = { ...attempted, arrivedAt: parts.rotations.startedAt() }
  const session = await parts.store.findSession(hashes.familyHash)
  if (session === null) throw new SessionGone()
  if (await hasEnded(parts, session)) throw (await endSession(parts, session.id), new SessionGone())
  // A repeated exchange of the predecessor changes nothing and does not count; only a rotation counts.
  if (session.tokenHash === hashes.hash) await countAttempt(parts, caller, 'refresh', { session: session.id })
  const step = await exchange(parts, session, attempt)
  if (step === 'over') throw invalidSession()
  if (step === 'gone') throw new SessionGone()
  if (step === 'stolen') throw new TokenReused({ userId: session.userId, sessionId: session.id })
  if (step === 'unknown') throw secretMissing(parts)
  if (step === 'overtaken') throw new OvertakenRefresh()
  return step
}

/**
 * The process that ended the session may have stopped before it deleted the row. A session that is refreshed regularly
 * needs no look-up: the list of ended sessions remembers each for longer than an access token is valid.
 */
async function hasEnded(parts: AuthParts, { id, rotatedAt }: StoredSession): Promise<boolean> {
  const { endedSessions, lifetimes, rotations, store } = parts
  if (endedSessions.has(id)) return true
  const isRemembered = rotations.roughly() - rotatedAt <= lifetimes.access * 1000
  return (!isRemembered || !endedSessions.isComplete()) && store.hasEnded(id)
}

type Step = Grant | 'over' | 'gone' | 'stolen' | 'unknown' | 'overtaken'

async function exchange(parts: AuthParts, session: StoredSession, attempt: Attempt): Promise<Step> {
  const { presented, hashes } = attempt
  // Both before the rotation, so that no failure of theirs costs the client a token.
  const [user, methods] = await Promise.all([
    parts.store.findUserById(session.userId),
    methodsOf(parts, session.id),
  ])
  const proven = { ...session, methods }
  const isReplaced = user?.passwordVersion !== session.passwordVersion
  if (!isAlive(parts, session, user)) return end(parts, session, isReplaced ? 'gone' : 'over')
  if (session.tokenHash === hashes.hash) {
    const next = parts.refreshTokens.successor(presented, session)
    const now = parts.rotations.stamp()
    const rotation = { id: session.id, from: hashes.hash, to: next.hash, ...(now !== undefined && { now }) }
    if (await rotateStored(parts, rotation, hashes)) return grantFor(parts, user, proven, next.token)
    // Another request was first: the session has ended, or the presented token is now the predecessor.
    const moved = await parts.store.findSession(hashes.familyHash)
    return moved ? exchange(parts, moved, attempt) : end(parts, session, 'gone')
  }
  return repeated(parts, proven, user, attempt)
}

/** If the reply is lost, the client must get the successor now: after the grace time its token would count as stolen. */
function rotateStored(
  { store }: AuthParts,
  rotation: Rotation,
  { familyHash }: RefreshTokenHashes,
): Promise<boolean> {
  return despiteLostReply(
    () => store.rotateSession(rotation),
    async () => (await store.findSession(familyHash))?.tokenHash === rotation.to,
  )
}

/** Handles a token that was already replaced. */
async function repeated(
  parts: AuthParts,
  session: ProvenSession,
  user: StoredUser,
  attempt: Attempt,
): Promise<Step> {
  const now = await parts.rotations.now()
  const arrived = attempt.arrivedAt(now)
  // In both directions, so that a clock that was set back does not extend the grace time.
  const age = Math.abs(now - session.rotatedAt)
  if (session.previousHash === attempt.hashes.hash && age <= parts.lifetimes.grace * 1000) {
    const current = parts.refreshTokens.recover(attempt.presented, session)
    return current ? grantFor(parts, user, session, current.token) : 'unknown'
  }
  // A rotation in the future happened before the clock was set back, so it gives no information about this request.
  const isPast = session.rotatedAt <= now + MEASURING_ERROR
  const isBefore = isPast && arrived + MEASURING_ERROR < session.rotatedAt
  if (isBefore && !(await provesLater(parts, session, attempt))) return 'overtaken'
  return (await hasLeft(attempt.caller)) ? 'overtaken' : end(parts, session, 'stolen')
}

/** Additional clock readings by which a request may prove that it arrived after the rotation. */
const MOST_READINGS = 4

/** Each reading dates the arrival too early by the travel time of its result, so the latest date is the best. */
async function provesLater(
  { rotations }: AuthParts,
  { rotatedAt }: StoredSession,
  { arrivedAt }: Attempt,
): Promise<boolean> {
  for (let reading = 0; reading < MOST_READINGS; reading++)
    if (arrivedAt(await rotations.now()) + MEASURING_ERROR >= rotatedAt) return true
  return false
}

/**
 * Milliseconds by which the measured arrival may be too early: the time between the database's clock reading and the
 * end of that statement in this process.
 */
const MEASURING_ERROR = 5

/** Milliseconds and event-loop turns after which a closed connection is detected, also in a busy process. */
const CLOSING = { time: 20, turns: 4 }

async function hasLeft({ signal }: Caller): Promise<boolean> {
  if (signal === undefined || signal.aborted) return signal !== undefined
  await setTimeout(CLOSING.time)
  for (let turn = 0; turn < CLOSING.turns && !signal.aborted; turn++) await setImmediate()
  return signal.aborted
}

async function end<Outcome>(parts: AuthParts, session: StoredSession, outcome: Outcome): Promise<Outcome> {
  await endSession(parts, session.id)
  return outcome
}

function secretMissing(parts: AuthParts): Error {
  parts.logger.warn(
    'A refresh token was made with a secret that this process does not know. ' +
      'Give a new secret to every process as the second of the list before it becomes the first.',
  )
  return unknownSecret('The session cannot be refreshed')
}
