import type { StoredUser } from '../accounts/auth-store.ts'
import type { OwnSession } from '../flows/proof.ts'
import type { FeatureAttempt, FeatureKit } from './feature.ts'

/** An attempt of a user who is signed in. */
export interface OwnAttempt extends Pick<FeatureAttempt, 'flow' | 'rule' | 'caller'> {
  readonly own: OwnSession
}

/** Returns the attempt with its subject: the session for its event, the user for its limit. */
export function attemptOf({ own, ...rest }: OwnAttempt): FeatureAttempt {
  return { ...rest, known: { ...own }, counted: { user: own.userId } }
}

/**
 * Runs an attempt of a signed-in user, with the account as stored now.
 * @throws Unauthorized if the session is over; LimitReached, and errors of `work`.
 */
export function asOwner<T>(
  { attempt, sessions }: FeatureKit,
  given: OwnAttempt,
  work: (user: StoredUser) => Promise<T>,
): Promise<T> {
  return attempt(attemptOf(given), async () => work(await sessions.owner(given.own)))
}

/**
 * Reads the account of a session after something was added to it. A reset, and the link of a notice, remove only rows that are
 * stored when the sessions have ended.
 * @throws Unauthorized if the session is over, after `undo`.
 */
export async function ownerStill(
  { sessions }: Pick<FeatureKit, 'sessions'>,
  own: OwnSession,
  undo: () => Promise<unknown>,
): Promise<StoredUser> {
  const find = () => sessions.owner(own)
  try {
    // Twice, because a failure would cost the user a code.
    return await find().catch(find)
  } catch (error) {
    await undo()
    throw error
  }
}
