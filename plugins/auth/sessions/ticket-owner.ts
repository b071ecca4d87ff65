import type { AccessClaims } from '../tokens/access-claims.ts'

/** The session that has issued a ticket. */
export type TicketOwner = Pick<AccessClaims, 'sub' | 'sid' | 'session'>

/** Uses a ticket of a path up. @returns null for a ticket that is not valid. */
export type RedeemTicket = (ticket: string, path: string) => Promise<TicketOwner | null>
