import { randomUUID } from 'node:crypto'
import { ignore } from 'mortar/kit'
import type { StoredUser } from '../../accounts/auth-store.ts'
import { hasProvenEmail } from '../../accounts/proven-email.ts'
import { ownAddress, ownerNeeded } from '../../errors.ts'
import type { Known } from '../../events/outcomes.ts'
import type { Caller, OwnSession } from '../../flows/proof.ts'
import type { Challenge } from '../challenges/challenges.ts'
import type { FeatureKit } from '../feature.ts'
import { mailTo } from '../mails.ts'
import { ACCOUNT_EXISTS, CHANGE_REQUESTED, CHANGED, linkMail, type LinkPurpose } from './mails.ts'
import type { EmailVerification } from './verification.ts'
import { refused } from '../../refusals.ts'

/** Settings of the links. */
export interface LinkSettings {
  /** Seconds. */
  readonly lifetime: number
  /** Address of the page that redeems a link. */
  readonly page: string
}

/** Creates the operations of one application, and the function that sends the link of a new account. */
export function createEmailVerification(kit: FeatureKit, settings: LinkSettings) {
  const links = createLinks(kit, settings)
  const sendTo = async (user: StoredUser, caller: Caller): Promise<void> =>
    (await links.issue('verify-email', user, user.email))(caller)
  const api: EmailVerification = {
    ...createRequests(kit, links),
    verify: (input, own, caller) => {
      const known: Known = {}
      return kit.attempt({ flow: 'verifyEmail', rule: 'verify', caller, known, counted: {} }, async () => {
        const link = await links.find(input.token)
        if (link === null) throw refused('invalid_verification_token')
        const { user, data } = link
        known.userId = user.id
        if (!(await isOwner(kit, user, { own, password: input.password }))) throw ownerNeeded()
        await redeem(kit, link)
        if (data === user.email) return 'verified'
        kit.events.emit('auth.email.changed', { ip: caller.ip, requestId: caller.id, userId: user.id })
        await kit.notify(user, CHANGED, caller)
        return 'changed'
      })
    },

    signUp: (input, caller) =>
      kit.signUpUnseen(input, caller, {
        created: (user) => sendTo(user, caller),
        taken: async (user) => kit.mails.send(mailTo(user, ACCOUNT_EXISTS), caller),
      }),
  }
  return { api, sendTo }
}

/** The operations that send a link. */
function createRequests(
  kit: FeatureKit,
  links: Links,
): Pick<EmailVerification, 'sendLink' | 'requestChange'> {
  return {
    sendLink: (email, caller) => {
      const attempt = { flow: 'verifyMail', rule: 'verifyMail', caller } as const
      return kit.attempt({ ...attempt, known: { email }, counted: { email } }, () =>
        kit.later(async () => {
          const user = await kit.users.findUserByEmail(email)
          if (user === null || user.isDisabled || hasProvenEmail(user)) return links.rehearse(email)
          const send = await links.issue('verify-email', user, email)
          send(caller)
        }),
      )
    },

    requestChange: (email, own, caller) => {
      const { userId } = own
      const attempt = { flow: 'changeEmail', rule: 'changeEmail', caller } as const
      return kit.attempt({ ...attempt, known: { userId }, counted: { user: userId, email } }, async () => {
        const user = await kit.sessions.owner(own)
        if (user.email === email) throw ownAddress()
        // A link to an address with a typing error must not work any more. For a taken address too: otherwise the state of
        // the earlier link would reveal the account. Before the response, so that a later request has the later link.
        await kit.challenges.revoke('change-email', userId)
        const send = await links.issue('change-email', user, email)
        await kit.later(async () => {
          await kit.notify(user, CHANGE_REQUESTED, caller)
          const owner = await kit.users.findUserByEmail(email)
          if (owner === null) send(caller)
          else kit.mails.send(mailTo(owner, ACCOUNT_EXISTS), caller)
        })
      })
    },
  }
}

/** True for the session or the password of the account. */
async function isOwner(
  kit: FeatureKit,
  user: StoredUser,
  proof: { readonly own: OwnSession | null; readonly password: string | undefined },
): Promise<boolean> {
  const { own, password } = proof
  if (password !== undefined) return kit.provePassword(user, password)
  return own !== null && (await kit.sessions.findOwner({ ...own, userId: user.id })) !== null
}

/** Uses a link up, then stores what it proves. A failure of the database, also a lost reply, makes the link valid again. */
async function redeem(kit: FeatureKit, link: Challenge): Promise<void> {
  const { user, data } = link
  const use = async () =>
    (await kit.challenges.redeem(link)) ? kit.proveEmail(user, data ?? user.email) : 'over'
  const result = await use().catch(async (error: unknown) => {
    await kit.challenges.restore(link).catch(ignore)
    throw error
  })
  if (result === 'taken') throw refused('email_taken')
  if (result === 'over') throw refused('invalid_verification_token')
}

type Links = ReturnType<typeof createLinks>

function createLinks(kit: FeatureKit, { lifetime, page }: LinkSettings) {
  const { challenges } = kit
  const linkOf = (token: string) => `${page}#token=${token}`
  return {
    /** Stores a link for an address of a user. @returns a function that mails it. */
    async issue(purpose: LinkPurpose, user: StoredUser, to: string) {
      const link = linkOf(await challenges.issue({ purpose, user, lifetime, data: to }))
      const until = kit.clock.now() + lifetime * 1000
      return (caller: Caller): void =>
        kit.mails.send(linkMail(purpose, { userId: user.id, to, link, lifetime }), caller, until)
    },

    /** Does the work of `send` for an address without a link: its secret belongs to nobody and has expired. */
    async rehearse(to: string): Promise<void> {
      const user = { id: randomUUID(), passwordVersion: 0 }
      // A relational database refuses the row, because there is no such user.
      const token = await challenges
        .issue({ purpose: 'verify-email', user, lifetime: 0, data: to })
        .catch(() => 'x'.repeat(43))
      await kit.mails.rehearse(
        linkMail('verify-email', { userId: user.id, to, link: linkOf(token), lifetime }),
      )
    },

    /** Finds the challenge of a link that is still of use. */
    async find(token: string): Promise<Challenge | null> {
      const own = await challenges.find('verify-email', token)
      if (own !== null) return own.data === own.user.email && !hasProvenEmail(own.user) ? own : null
      const change = await challenges.find('change-email', token)
      return change !== null && change.data !== change.user.email ? change : null
    },
  }
}
