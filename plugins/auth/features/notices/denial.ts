import { ignore } from 'mortar/kit'
import type { StoredUser } from '../../accounts/auth-store.ts'
import type { Known } from '../../events/outcomes.ts'
import type { Caller } from '../../flows/proof.ts'
import type { FeatureKit } from '../feature.ts'
import { mailTo, type MailTexts } from '../mails.ts'
import { PAGE_PATH } from './page.ts'
import { refused } from '../../refusals.ts'

/** Seconds for which a link works: an owner may read the mail days later. */
const LIFETIME = 7 * 86_400

/** The links of notices, for owners who did not do it. */
export type Denial = ReturnType<typeof createDenial>

/** Creates the links of one application. */
export function createDenial(kit: FeatureKit) {
  const page = kit.linkTo(PAGE_PATH)
  const queue = new Map<string, Promise<void>>()

  const denyOnce = async (token: string, caller: Caller, known: Known): Promise<void> => {
    const link = await kit.challenges.find('not-me', token)
    if (link === null) throw refused('invalid_link')
    known.userId = link.user.id
    // First: a process that ends in between leaves a link that works, and nobody in the account.
    await kit.accounts.endPassword(link.user)
    kit.accounts.startReset(link.user, caller)
    await kit.challenges.redeem(link)
  }
  return {
    /** Mails a notice with a link. Without a link if it cannot be stored. */
    async notify(user: StoredUser, texts: MailTexts, caller: Caller) {
      // Whoever has got in can raise the version, and must not end this link by it.
      const owner = { id: user.id, passwordVersion: 0 }
      const issued = { purpose: 'not-me', user: owner, lifetime: LIFETIME, outlivesVersion: true } as const
      const token = await kit.challenges.issue(issued).catch(() => undefined)
      const action = token && { label: 'This was not me', link: `${page}#token=${token}` }
      kit.mails.send({ ...mailTo(user, texts), ...(action && { action }) }, caller)
    },
    /**
     * Ends every session and the password of the account of a link, and mails a link that sets a new password. Requests with
     * one link run one after the other: each end of sessions also ends the reset link of the request before.
     * @throws Unauthorized `invalid_link`, LimitReached.
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
