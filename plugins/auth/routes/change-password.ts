import * as yup from 'yup'
import { defineRoute, Unauthorized } from '../../../src/index.ts'
import { authOf, ownRefreshToken } from './auth-context.ts'
import { crossSite, JSON_BODY, knownPassword, limited, message, newPassword, problem } from './shapes.ts'

/** `POST /auth/change-password`: every other session ends; this one stays and gets the next refresh cookie. */
export const changePasswordRoute = defineRoute(
  {
    summary: 'Change the password',
    description: 'Needs the current password. Every other session of the user ends; this one stays.',
    operationId: 'changePassword',
    auth: true,
    ...JSON_BODY,
    body: yup.object({ current: knownPassword, next: newPassword }),
    response: {
      200: message,
      401: problem('Not signed in, or the current password is wrong.'),
      403: crossSite,
      429: limited,
    },
  },
  async (ctx) => {
    const { flows, cookie, claimsOf } = authOf(ctx)
    const claims = claimsOf(ctx.token)
    // The session may have been ended between the guard and here.
    if (claims === null) throw new Unauthorized('The session is over.', { code: 'invalid_token' })
    const own = { userId: claims.sub, sessionId: claims.sid, refreshToken: ownRefreshToken(ctx) }
    const grant = await flows.changePassword(ctx.body, own, ctx)
    if (grant) cookie.set(ctx, grant)
    return { message: 'The password is changed. Every other session has ended.' }
  },
)
