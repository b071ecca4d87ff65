import { defineRoute } from 'mortar'
import { authOf, ownRefreshToken } from './auth-context.ts'
import { crossSite, ignored, JSON_BODY } from './shapes.ts'

/** `POST /auth/logout`: ends the session and clears the cookie; the same response if there is nothing to end. */
export const logOutRoute = defineRoute(
  {
    summary: 'Log out',
    description:
      'Ends the session of the refresh cookie or of the access token, and clears the cookie. 204 in any case.',
    operationId: 'logOut',
    ...JSON_BODY,
    body: ignored,
    response: { 204: { description: 'The session has ended.' }, 403: crossSite },
  },
  async (ctx) => {
    const { flows, cookie, claimsOf } = authOf(ctx)
    const accessToken = claimsOf(ctx.token) === null ? null : ctx.token
    await flows.logOut({ refreshToken: ownRefreshToken(ctx), accessToken }, ctx)
    cookie.clear(ctx)
  },
)
