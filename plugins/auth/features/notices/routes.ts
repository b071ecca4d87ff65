import { defineRoute, type Router } from 'mortar'
import { featureOf } from '../../routes/auth-context.ts'
import { authRouter } from '../../routes/auth-router.ts'
import { spentLink } from '../../routes/shapes.ts'
import { linkPageRouter } from '../link-page.ts'
import type { Denial } from './denial.ts'
import { PAGE } from './page.ts'

const denied = spentLink('DenyNotice')

const denyRoute = defineRoute(
  {
    summary: 'Report a notice as not caused by the owner',
    description:
      'Needs the token of the link in a notice. Takes a deletion of the account and a later change of a proven address back, ends every session and the password of the account, removes the ways in and second factors that were added since, and mails a link that sets a new one.',
    operationId: 'denyNotice',
    ...denied,
    response: {
      ...denied.response,
      409: { description: 'Another account has the address of the notice by now.' },
    },
  },
  async (ctx) => {
    await featureOf<Denial>(ctx, 'notices').deny(ctx.body.token, ctx)
    return {
      message:
        'Every session and the password have ended, and what was added since to sign in. A mail with a link for a new password is on its way.',
    }
  },
)

/** The routers of `notices()`. */
export function denialRoutes(): readonly Router[] {
  const router = authRouter()
  router.post('/not-me', denyRoute)
  return [router, linkPageRouter(PAGE)]
}
