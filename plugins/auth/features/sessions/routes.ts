import * as yup from 'mortar/yup'
import { defineRoute, type Router } from 'mortar'
import { featureOf, ownSession } from '../../routes/auth-context.ts'
import { authRouter } from '../../routes/auth-router.ts'
import { limited, stale } from '../../routes/shapes.ts'
import type { OwnSessions } from './own-sessions.ts'

const moment = yup.string().required().meta({ format: 'date-time' })

const shownSession = yup
  .object({
    id: yup.string().required(),
    current: yup.boolean().required().meta({ description: 'True for the session of this request.' }),
    device: yup.string().required().meta({ description: 'Browser and system: Firefox on Linux.' }),
    ip: yup.string().nullable().defined().meta({ description: 'Address from which the session began.' }),
    place: yup.string().nullable().defined().meta({ description: 'Place of the address, if it is known.' }),
    signedInAt: moment,
    lastUsedAt: moment,
    endsAt: moment,
  })
  .label('Session')

const listRoute = defineRoute(
  {
    summary: 'The sessions of the user',
    operationId: 'listSessions',
    auth: true,
    response: {
      200: yup.object({ sessions: yup.array(shownSession.required()).required() }).label('Sessions'),
    },
  },
  async (ctx) => ({ sessions: [...(await featureOf<OwnSessions>(ctx, 'sessions').list(ownSession(ctx)))] }),
)

const endRoute = defineRoute(
  {
    summary: 'End a session of the user',
    operationId: 'endSession',
    auth: 'fresh',
    params: yup.object({ id: yup.string().required() }),
    response: {
      204: { description: 'The session has ended.' },
      403: stale,
      404: { description: 'The user has no such session.' },
      429: limited,
    },
  },
  async (ctx) => featureOf<OwnSessions>(ctx, 'sessions').end(ctx.params.id, ownSession(ctx), ctx),
)

const endOthersRoute = defineRoute(
  {
    summary: 'End every other session of the user',
    operationId: 'endOtherSessions',
    auth: 'fresh',
    response: { 204: { description: 'Every other session has ended.' }, 403: stale, 429: limited },
  },
  async (ctx) => featureOf<OwnSessions>(ctx, 'sessions').endOthers(ownSession(ctx), ctx),
)

/** The router of `sessions()`. */
export function sessionRoutes(): Router {
  const router = authRouter()
  router.get('/sessions', listRoute)
  router.delete('/sessions/:id', endRoute)
  router.delete('/sessions', endOthersRoute)
  return router
}
