/** Entry `@mortar/auth/ticket`: one-use credentials for requests that cannot send a header. */
import { CHALLENGES } from '../challenges/table.ts'
import type { AuthFeature } from '../feature.ts'
import { ticketRoutes } from './routes.ts'
import { createTickets } from './tickets.ts'

/**
 * `POST /auth/ticket`: a credential for one GET of one path within 30 seconds, in place of an access token in the query
 * (ASVS 14.2.1). The request belongs to the session of the ticket, and its stream or socket ends with it.
 */
export function ticket(): AuthFeature {
  return {
    name: 'ticket',
    tables: [CHALLENGES],
    routes: [ticketRoutes()],
    connect(kit) {
      const api = createTickets(kit)
      return { api, redeemTicket: api.redeem }
    },
  }
}
