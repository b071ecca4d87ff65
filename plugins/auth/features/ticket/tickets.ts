import type { UserSession } from 'mortar'
import type { Caller, OwnSession } from '../../flows/proof.ts'
import { asOwner } from '../as-owner.ts'
import type { FeatureKit } from '../feature.ts'

const PURPOSE = 'ticket'
/** Seconds. */
export const LIFETIME = 30
/** Seconds that a row stays: the clocks of both processes may be a minute wrong, and the store's time ends a ticket. */
const KEPT = LIFETIME + 120

/** Contents of a ticket, which only the application reads. */
interface Contents {
  readonly token: string
  readonly issuedAt: number
  readonly session: UserSession
}

/** Somebody who asks for a ticket. */
export interface TicketHolder {
  readonly own: OwnSession
  readonly session: UserSession | undefined
  readonly caller: Caller
}

/** The operations of `ticket()`. */
export type Tickets = ReturnType<typeof createTickets>

/**
 * Creates the operations. A ticket is sealed for its path, so one that was made up or belongs to another path costs no
 * statement.
 */
export function createTickets(kit: FeatureKit) {
  const { vault, challenges, storeTime } = kit
  return {
    /** Issues a ticket for a GET of this path by the caller's session. @throws Unauthorized if it is over; LimitReached. */
    issue: (path: string, { own, session = { id: own.sessionId, methods: [] }, caller }: TicketHolder) =>
      asOwner(kit, { flow: 'ticket', rule: 'ticket', own, caller }, async (user) => {
        const token = await challenges.issue({ purpose: PURPOSE, user, lifetime: KEPT })
        const contents: Contents = { token, issuedAt: await storeTime(), session }
        const { keyId, sealed } = vault.seal(PURPOSE, path, JSON.stringify(contents))
        return `${keyId}.${sealed}`
      }),
    /** Uses a ticket up. Of many concurrent calls one gets the owner; null for a ticket that is not valid for the path. */
    async redeem(ticket: string, path: string) {
      const [keyId = '', sealed = ''] = ticket.split('.')
      const text = vault.open(PURPOSE, path, { keyId, sealed })
      if (text === null) return null
      const { token, issuedAt, session } = JSON.parse(text) as Contents
      if ((await storeTime()) - issuedAt >= LIFETIME * 1000) return null
      const challenge = await challenges.find(PURPOSE, token)
      if (challenge === null || !(await challenges.redeem(challenge))) return null
      return { sub: challenge.user.id, sid: session.id, session }
    },
  }
}
