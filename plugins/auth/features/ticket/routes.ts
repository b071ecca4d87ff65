import * as yup from 'mortar/yup'
import { defineRoute, type Router } from 'mortar'
import { featureOf, ownSession } from '../../routes/auth-context.ts'
import { authRouter } from '../../routes/auth-router.ts'
import { JSON_BODY, limited } from '../../routes/shapes.ts'
import { LIFETIME, type Tickets } from './tickets.ts'

/** A path without query and fragment. Blanks and backslashes would mean another path to a browser. */
const path = yup
  .string()
  .strict()
  .required()
  .max(2048)
  .matches(/^\/[^?#\\\s]*$/, 'Write a path without query, such as /notes/events.')
  .meta({ description: 'The path of the later request.' })

const issueRoute = defineRoute(
  {
    summary: 'Issue a one-use ticket for an address',
    description:
      `A credential for one GET request of the path, within ${LIFETIME} seconds, as the query parameter access_token. It is ` +
      'for clients that cannot send a header: WebSocket, EventSource, links of downloads.',
    operationId: 'issueTicket',
    auth: true,
    ...JSON_BODY,
    body: yup.object({ path }).meta({ title: 'TicketRequest' }),
    response: {
      200: yup
        .object({
          ticket: yup.string().required(),
          expiresIn: yup.number().integer().required().meta({ description: 'Seconds until it expires.' }),
        })
        .label('Ticket'),
      401: { description: 'Not signed in, or the session is over.' },
      429: limited,
    },
  },
  async (ctx) => {
    const { session } = ctx.user
    // A browser sends the path in this form.
    const { pathname } = new URL(`http://localhost${ctx.body.path}`)
    const tickets = featureOf<Tickets>(ctx, 'ticket')
    const ticket = await tickets.issue(pathname, { session, own: ownSession(ctx), caller: ctx })
    return { ticket, expiresIn: LIFETIME }
  },
)

/** The router of `ticket()`. */
export function ticketRoutes(): Router {
  const router = authRouter()
  router.post('/ticket', issueRoute)
  return router
}
