/*
 * Rotation without lost sessions. One conditional update exchanges the current refresh token for its successor. A
 * caller that loses that race, or lost the response, presents the immediate predecessor and gets the same successor
 * again within the grace time. A token of an older generation was copied: the session ends.
 *
 * One thing looks like theft and is not: an exchange that waits (for a connection, in a busy process) while its client
 * has given up, repeated it elsewhere and gone on. By the time it reads the session, its token is generations old. So a
 * token is judged as of the moment when its request arrived, and a request whose client has left accuses nobody; such an
 * exchange gets no token either, so a thief gains nothing by imitating one.
 *
 * During the roll-out of a new secret a process may meet the predecessor of a token that another one made with a
 * secret it does not know: it cannot make that token again, and asks to come back.
 * Tests: test/plugins/auth/refresh.test.ts, roll-out.test.ts, rotation-model.test.ts and fleet/fleet.test.ts.
 */
import { setImmediate, setTimeout } from 'node:timers/promises'
import { invalidSession, OvertakenRefresh, SessionGone, TokenReused, unknownSecret } from '../errors.ts'
import type { RefreshTokenHashes } from '../tokens/refresh-tokens.ts'
import type { StoredSession, StoredUser } from '../../../src/index.ts'
import { withEvent, type Known } from './outcome.ts'
import { countAttempt, type AuthParts, type Caller } from './parts.ts'
import { endSession, grantFor, isAlive, type Grant } from './sessions.ts'

/**
 * Exchanges a refresh token.
 * @throws Unauthorized `invalid_session` when it proves no session; LimitReached; ServiceUnavailable when only a
 * process with a newer secret could answer.
 */
export type Refresh = (presented: string | null, caller: Caller) => Promise<Grant>

/**
 * Makes the refresh flow. Requests of one process that present the same token at the same time share one exchange, so
 * that several tabs count as one against the limit.
 */
export function createRefresh(parts: AuthParts): Refresh {
  const running = new Map<string, Promise<Grant>>()

  const exchangeOnce: Refresh = async (presented, caller) => {
    const hashes = parts.refreshTokens.hashes(presented)
    if (presented === null || hashes === null) throw invalidSession()
    // Nothing is awaited where no exchange runs, so that requests of one turn of the event loop share one.
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

/** The verdict that an exchange was overtaken is about its own caller; another one begins an exchange of its own. */
function unlessOvertaken(error: unknown): null {
  if (error instanceof OvertakenRefresh) return null
  throw error
}

/** An exchange that began earlier may have missed the end of the session by another process. */
async function shared(parts: AuthParts, grant: Grant, { familyHash }: RefreshTokenHashes): Promise<Grant> {
  const session = await parts.store.findSession(familyHash)
  const user = session && (await parts.store.findUserById(session.userId))
  if (session && isAlive(parts, session, user)) return grant
  throw new SessionGone()
}

interface Presented {
  readonly presented: string
  readonly hashes: RefreshTokenHashes
  readonly caller: Caller
}

/** A presented token, with the time of its arrival by the clock of the rotations. */
interface Attempt extends Presented {
  readonly arrivedAt: (now: number) => number
}

async function rotate(parts: AuthParts, attempted: Presented): Promise<Grant> {
  const { hashes, caller } = attempted
  const attempt = { ...attempted, arrivedAt: parts.rotations.startedAt() }
  const session = await parts.store.findSession(hashes.familyHash)
  if (session === null) throw new SessionGone()
  // The process that ended it may have stopped before it deleted the row.
  if (parts.endedSessions.has(session.id)) throw (await endSession(parts, session.id), new SessionGone())
  // A repeated exchange of the predecessor changes nothing and is free; only a step forward counts.
  if (session.tokenHash === hashes.hash) await countAttempt(parts, caller, 'refresh', { session: session.id })
  const step = await exchange(parts, session, attempt)
  if (step === 'over') throw invalidSession()
  if (step === 'gone') throw new SessionGone()
  if (step === 'stolen') throw new TokenReused({ userId: session.userId, sessionId: session.id })
  if (step === 'unknown') throw secretMissing(parts)
  if (step === 'overtaken') throw new OvertakenRefresh()
  return step
}

type Step = Grant | 'over' | 'gone' | 'stolen' | 'unknown' | 'overtaken'

async function exchange(parts: AuthParts, session: StoredSession, attempt: Attempt): Promise<Step> {
  const { presented, hashes } = attempt
  const user = await parts.store.findUserById(session.userId)
  const isReplaced = user?.passwordVersion !== session.passwordVersion
  if (!isAlive(parts, session, user)) return end(parts, session, isReplaced ? 'gone' : 'over')
  if (session.tokenHash === hashes.hash) {
    const next = parts.refreshTokens.successor(presented, session)
    const now = parts.rotations.stamp()
    const rotation = { id: session.id, from: hashes.hash, to: next.hash, ...(now !== undefined && { now }) }
    if (await parts.store.rotateSession(rotation)) return grantFor(parts, user, session, next.token)
    // Another request was first: the session is gone, or the presented token is its predecessor now.
    const moved = await parts.store.findSession(hashes.familyHash)
    return moved ? exchange(parts, moved, attempt) : end(parts, session, 'gone')
  }
  return repeated(parts, session, user, attempt)
}

/** The step of a token that was replaced. */
async function repeated(
  parts: AuthParts,
  session: StoredSession,
  user: StoredUser,
  attempt: Attempt,
): Promise<Step> {
  const now = await parts.rotations.now()
  const arrived = attempt.arrivedAt(now)
  // Either way, so that a clock that was set back does not lengthen the grace time.
  const age = Math.abs(now - session.rotatedAt)
  if (session.previousHash === attempt.hashes.hash && age <= parts.lifetimes.grace * 1000) {
    const current = parts.refreshTokens.recover(attempt.presented, session)
    return current ? grantFor(parts, user, session, current.token) : 'unknown'
  }
  // A rotation in the future is one before the clock was set back, which says nothing about this request.
  const isPast = session.rotatedAt <= now + MEASURING_ERROR
  const isBefore = isPast && arrived + MEASURING_ERROR < session.rotatedAt
  if (isBefore && !(await provesLater(parts, session, attempt))) return 'overtaken'
  return (await hasLeft(attempt.caller)) ? 'overtaken' : end(parts, session, 'stolen')
}

/** Further readings of the clock by which a request may prove that it arrived after the rotation. */
const MOST_READINGS = 4

/** Each reading dates the arrival too early by as long as its answer was under way, so the latest of the dates is the best. */
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
 * Milliseconds by which the measured arrival may be too early: the time between the database's reading of its clock and
 * the end of that statement here.
 */
const MEASURING_ERROR = 5

/** Milliseconds and turns of the event loop in which a connection that was closed shows it, also in a busy process. */
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
  return unknownSecret()
}
