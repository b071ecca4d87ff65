import type { StoredUser } from '../accounts/auth-store.ts'
import type { FeatureKit, FeatureSessions } from '../features/feature.ts'
import { mailTo } from '../features/mails.ts'
import { CHALLENGES } from '../features/challenges/table.ts'
import { sessionOver } from '../errors.ts'
import { admit, tell } from './admit.ts'
import { createChallenges } from './challenges.ts'
import { clearUser, disableRead, eraseUser, forgetAdded } from './delete-user.ts'
import { NOBODY, sendReset } from './forgot-password.ts'
import { withEvent, withFailureEvent } from './outcome.ts'
import { insertUser, proveEmail } from './prove-email.ts'
import { signUpUnseen } from './sign-up-unseen.ts'
import { verifyPassword } from './verify-password.ts'
import { countedWork, subjectOf, type AuthParts } from './parts.ts'
import { proveAgain, provePasskey } from './prove-again.ts'
import { endOtherSessions, endSession, isAlive, orForget } from './sessions.ts'

/** Dependencies of the kit besides the parts of the flows. */
export interface KitSettings extends Pick<
  FeatureKit,
  'services' | 'records' | 'cookie' | 'linkTo' | 'refusesUnverified' | 'asksForProof'
> {
  /** Called after a feature has begun a session. */
  tidy(): void
}

/** Creates what the features of one application get. */
export function createFeatureKit(parts: AuthParts, { tidy, ...settings }: KitSettings): FeatureKit {
  const { store, passwords, clock, logger, events } = parts
  return {
    ...settings,
    challenges: createChallenges({ ...parts, records: settings.records(CHALLENGES), users: store }),
    mails: parts.mails,
    vault: parts.vault,
    clock,
    storeTime: () => parts.rotations.now(),
    logger,
    outages: parts.outages,
    events,
    users: store,
    tables: parts.tables,
    sessions: sessionsOf(parts, tidy),
    accounts: {
      create: (user) => insertUser(parts, user),
      disable: (user) => disableRead(parts, user),
      enable: ({ id, passwordVersion }) => store.setDisabled(id, false, clock.now(), passwordVersion),
      erase: (user) => eraseUser(parts, user),
      forget: (userId) => clearUser(parts, userId),
      reopen: async (user) =>
        (await parts.features.find((each) => each.reopen !== undefined)?.reopen?.(user)) === true,
      endPassword: (user) => endOtherSessions(parts, { ...user, passwordHash: null }),
      forgetAdded: (user, since) => forgetAdded(parts, user, since),
      startReset: ({ id }, caller) => parts.mails.later(() => sendReset(parts, id, caller)),
    },
    async later(work) {
      await store.findUserByEmail(NOBODY)
      parts.mails.later(work)
    },
    verifyPassword: async ({ passwordHash }, password) =>
      (await passwords.verify(passwordHash, password)).valid,
    provePassword: ({ id }, password) => verifyPassword(parts, id, password),
    proveEmail: (user, email) => proveEmail(parts, user, email),
    signUpUnseen: (input, caller, told) => signUpUnseen(parts, input, caller, told),
    attempt: (attempt, work) =>
      withEvent(parts, attempt, () => countedWork(parts, attempt.caller, attempt, work)),
    begin: (attempt, work) =>
      withFailureEvent(parts, attempt, () => countedWork(parts, attempt.caller, attempt, work)),
    count: (attempt, work) => countedWork(parts, attempt.caller, attempt, work),
    proveAgain: (user, codes, caller) => proveAgain(parts, user, codes, caller),
    provePasskey: (user, passkey, caller) => provePasskey(parts, user, passkey, caller),
    notify: notifier(parts),
    factorChanged: (user, change, caller) =>
      tell(parts, 'factorChanged', (feature) => feature.factorChanged?.(user, change, caller)),
    waysIn: (user) => countWaysIn(parts, user),
    succeeded: ({ rule, caller, counted }) => parts.limits.success(rule, subjectOf(caller, counted)),
  }
}

function notifier({ features, mails }: AuthParts): FeatureKit['notify'] {
  return async (user, texts, caller) => {
    const feature = features.find((each) => each.denialLink !== undefined)
    const link = await feature?.denialLink?.(user).catch(() => undefined)
    mails.send(
      { ...mailTo(user, texts), ...(link && { action: { label: 'This was not me', link } }) },
      caller,
    )
  }
}

async function countWaysIn({ features }: AuthParts, { id, passwordHash }: StoredUser): Promise<number> {
  let ways = passwordHash === null ? 0 : 1
  for (const feature of features) ways += (await feature.waysIn?.(id)) ?? 0
  return ways
}

function sessionsOf(parts: AuthParts, tidy: () => void): FeatureSessions {
  const findOwner: FeatureSessions['findOwner'] = async ({ sessionId, userId }) => {
    if (parts.endedSessions.has(sessionId)) return null
    const found = await parts.store.findUserOfSession(sessionId, userId)
    return found && isAlive(parts, found.session, found.user) ? found.user : null
  }
  return {
    findOwner,
    async owner(own) {
      const user = await findOwner(own)
      if (user === null) throw sessionOver()
      return user
    },
    async list(user) {
      const sessions = await parts.store.findSessions(user.id)
      return sessions.filter(
        (session) => !parts.endedSessions.has(session.id) && isAlive(parts, session, user),
      )
    },
    end: (sessionId) => endSession(parts, sessionId),
    endOthers: (user, kept) => endOtherSessions(parts, user, kept),
    async renew(user, sessionId, { caller, methods, isOver }) {
      const grant = await admit(parts, { user, way: 'renewal', methods }, { caller })
      if (grant === null || isOver) return grant
      // The new session begins first, so that a process that ends here leaves the user signed in.
      if (await orForget(parts, grant.sessionId, () => endSession(parts, sessionId))) return grant
      await endSession(parts, grant.sessionId)
      return null
    },
    async begin(user, { caller, presented, ...proof }) {
      const grant = await admit(parts, { user, way: 'login', ...proof }, { caller, presented })
      tidy()
      return grant
    },
    async endAll(user) {
      // Not again after another change, which has ended every session too: a link for a new password may be on its way.
      const isDone = await endOtherSessions(parts, user)
      return isDone ? { ...user, passwordVersion: user.passwordVersion + 1 } : user
    },
  }
}
