import * as yup from 'mortar/yup'
import { defineRoute, type Router } from 'mortar'
import { featureOf } from '../../routes/auth-context.ts'
import { authRouter } from '../../routes/auth-router.ts'
import { JSON_BODY, limited, linkToken, message } from '../../routes/shapes.ts'
import { linkPageRouter } from '../link-page.ts'
import type { Denial } from './denial.ts'
import { PAGE } from './page.ts'

const denyRoute = defineRoute(
  {
    summary: 'Report a notice as not caused by the owner',
    description:
      'Needs the token of the link in a notice. Ends every session of the account, and mails a link that sets a new password.',
    operationId: 'denyNotice',
    ...JSON_BODY,
    body: yup.object({ token: linkToken }).meta({ title: 'DenyNotice' }),
    problems: [401, 429],
    response: {
      200: message,
      401: { description: 'The link is not valid: it was used, or its time is over.' },
      429: limited,
    },
  },
  async (ctx) => {
    await featureOf<Denial>(ctx, 'notices').deny(ctx.body.token, ctx)
    return { message: 'Every session has ended. A mail with a link for a new password is on its way.' }
  },
)

/** The routers of `notices()`. */
export function denialRoutes(): readonly Router[] {
  const router = authRouter()
  router.post('/not-me', denyRoute)
  return [router, linkPageRouter(PAGE)]
}
