import type { Credential, CredentialRequest, User } from 'mortar'
import type { FreshSessions } from './fresh-session.ts'
import type { RedeemTicket, TicketOwner } from './ticket-owner.ts'

/** Settings of `createRedeemedTickets`. */
export interface RedeemedTicketsOptions extends Pick<FreshSessions, 'identify'> {
  /** Undefined without the feature `ticket()`. */
  readonly redeem: RedeemTicket | undefined
  /** Returns the second at which an access token that is issued now expires. */
  readonly expiry: () => number
}

/** Creates the look-up of tickets as credentials of requests, for one application. */
export function createRedeemedTickets({ redeem, identify, expiry }: RedeemedTicketsOptions) {
  // A request has one credential object, and its ticket is worthless after the first look.
  const owners = new WeakMap<Credential, TicketOwner>()
  const look = async (credential: Credential, path: string): Promise<User | null> => {
    const owner = owners.get(credential) ?? (await redeem!(credential.token, path))
    if (owner === null) return null
    owners.set(credential, owner)
    return identify(owner)
  }
  return {
    /** @returns the user of a ticket in the query of a GET, as stored now; null for any other credential. */
    identify: (credential: Credential, { method, path }: CredentialRequest) =>
      redeem === undefined || credential.source !== 'query' || method !== 'GET'
        ? null
        : look(credential, path),
    /** Returns the session of a credential that `identify` has accepted. */
    sessionOf(credential: Credential) {
      const owner = owners.get(credential)
      return owner ? { ...owner, exp: expiry() } : null
    },
  }
}
