import { ignore } from 'mortar/kit'
import type { StoredUser } from '../../accounts/auth-store.ts'
import { hasProvenEmail } from '../../accounts/proven-email.ts'
import type { Known } from '../../events/outcomes.ts'
import { eventOrigin } from '../../flows/parts.ts'
import type { Caller } from '../../flows/proof.ts'
import type { Challenge } from '../challenges/challenges.ts'
import { hashToken } from '../../tokens/opaque-token.ts'
import { CHALLENGES } from '../challenges/table.ts'
import type { FeatureKit } from '../feature.ts'
import { PAGE_PATH } from './page.ts'
import { refused } from '../../refusals.ts'

/** Seconds for which a link works: an owner may read the mail days later. */
const LIFETIME = 7 * 86_400

/**
 * Milliseconds before a link in which its event has begun, such as the set-up of an authenticator, with the difference of
 * clocks.
 */
const BEFORE = 900_000

/** The links of notices, for owners who did not do it. */
export type Denial = ReturnType<typeof createDenial>

/** Creates the links of one application. */
export function createDenial(kit: FeatureKit) {
  const page = kit.linkTo(PAGE_PATH)
  const records = kit.records(CHALLENGES)
  const queue = new Map<string, Promise<void>>()

  const denyOnce = async (token: string, caller: Caller, known: Known): Promise<void> => {
    const link = await kit.challenges.find('not-me', token)
    if (link === null) throw refused('invalid_link')
    known.userId = link.user.id
    const since = Number(link.row['created_at']) - BEFORE
    let stolen: Awaited<ReturnType<typeof takeBack>>
    // Before the use: a process that ends in between leaves a link that works, and nobody in the account. In turn, because
    // whoever comes in by a passkey, just before its removal, could add another.
    do stolen = await takeBack(kit, link, caller)
    while (
      !(await kit.accounts.endPassword(stolen.user)) ||
      (await kit.accounts.forgetAdded(stolen.user, since))
    )
    if (stolen.isTaken) throw refused('email_taken')
    kit.accounts.startReset(stolen.user, caller)
    await kit.challenges.redeem(link)
  }
  return {
    /** Makes the link of a notice. It knows the address of the notice, if that is proven. */
    async linkFor(user: StoredUser) {
      const data = hasProvenEmail(user) ? { data: user.email } : {}
      // Whoever has got in can raise the version, and must not end this link by it.
      const issued = { purpose: 'not-me', user, lifetime: LIFETIME, outlivesVersion: true, ...data } as const
      return `${page}#token=${await kit.challenges.issue(issued)}`
    },
    /** Keeps the address of an account that gets another one, while a link gives it back. */
    async keep({ id, email, ...user }: StoredUser) {
      if (!hasProvenEmail(user)) return
      const [key, now] = [keyOf(email), kit.clock.now()]
      const term = { user_id: id, expires_at: now + LIFETIME * 1000 }
      const row = { ...key, ...term, purpose: 'kept-address', created_at: now }
      if (!(await records.insert(row))) await records.update(key, term)
    },
    async keeperOf(email: string) {
      const [row] = await records.find({ ...keyOf(email), expires_at: { above: kit.clock.now() } })
      return row && String(row['user_id'])
    },
    /**
     * Ends every session and the password of the account of a link, gives it the address of the notice again, and mails a
     * link that sets a new password. Requests with one link run one after the other: each end of sessions also ends the
     * reset link of the request before.
     * @throws Unauthorized `invalid_link`, Conflict `email_taken`, LimitReached.
     */
    deny(token: string, caller: Caller) {
      const known: Known = {}
      return kit.attempt({ flow: 'deny', rule: 'verify', caller, known, counted: {} }, async () => {
        const turn = (queue.get(token) ?? Promise.resolve())
          .catch(ignore)
          .then(() => denyOnce(token, caller, known))
        queue.set(token, turn)
        await turn.finally(() => queue.get(token) === turn && queue.delete(token))
      })
    },
  }
}

function keyOf(email: string) {
  return { token_hash: hashToken('kept-address', email) }
}

/**
 * Takes a deletion of the account back, and a change of the address, if the notice of a link went to another one. Links of later notices to other
 * addresses end: a thief who has got them must not take the account again.
 * @returns the account, and true if another one has the address of the notice.
 * @throws Unauthorized `invalid_link` for an account that an operator has disabled, or that is deleted.
 */
async function takeBack(kit: FeatureKit, link: Challenge, caller: Caller) {
  const { data: email, row } = link
  let user = await openAccount(kit, link.user.id, caller)
  if (email === null) return { user, isTaken: false }
  while (user.email !== email) {
    const result = await kit.proveEmail(user, email)
    if (result === 'taken') return { user, isTaken: true }
    if (result === 'changed')
      kit.events.emit('auth.email.changed', { ...eventOrigin(caller), userId: user.id })
    user = await openAccount(kit, user.id, caller)
  }
  // By the version, which each change of the address raises: clocks of processes differ.
  const later = {
    password_version: { atMost: Number(row['password_version']) - 1 },
    data: { noneOf: [email] },
  }
  await kit.records(CHALLENGES).remove({ user_id: user.id, purpose: 'not-me', ...later })
  return { user, isTaken: false }
}

/** Returns an account as stored now. One that its user is deleting opens again. @throws Unauthorized `invalid_link`. */
async function openAccount(kit: FeatureKit, userId: string, caller: Caller): Promise<StoredUser> {
  const user = await kit.users.findUserById(userId)
  if (user?.isDisabled === false) return user
  if (user === null || !(await kit.accounts.reopen(user))) throw refused('invalid_link')
  kit.events.emit('auth.deletion.cancelled', { ...eventOrigin(caller), userId })
  return { ...user, isDisabled: false }
}
