import { defineRoute } from 'mortar'
import { isHttpError } from 'mortar/kit'
import { SessionGone, sessionOver } from '../errors.ts'
import { authOf, ownRefreshToken } from './auth-context.ts'
import { crossSite, currentUser, ignored, JSON_BODY, limited, refreshed } from './shapes.ts'

/**
 * `POST /auth/refresh`: a new access token and the next refresh cookie. A 401 clears the cookie, unless the session
 * ended elsewhere: login or change-password in another tab may have set a newer cookie, and clearing it would end that
 * session. A 429 or a 5xx does not clear it.
 */
export const refreshRoute = defineRoute(
  {
    summary: 'Refresh the session',
    description:
      'Exchanges the refresh cookie for a new access token and the next refresh cookie. Repeated within the grace time ' +
      'it gives the same cookie; an older one was copied, and ends the session.',
    operationId: 'refreshSession',
    ...JSON_BODY,
    body: ignored,
    response: {
      200: refreshed,
      401: { description: 'No session: the cookie is missing, invalid or was copied.' },
      403: crossSite,
      429: limited,
    },
  },
  async (ctx) => {
    const { flows, cookie } = authOf(ctx)
    const presented = ownRefreshToken(ctx)
    try {
      const grant = await flows.refresh(presented, ctx)
      cookie.set(ctx, grant)
      return { accessToken: grant.accessToken, expiresIn: grant.expiresIn }
    } catch (error) {
      if (presented !== null && isWorthless(error)) cookie.clear(ctx)
      throw error
    }
  },
)

function isWorthless(error: unknown): boolean {
  return isHttpError(error) && error.status === 401 && !(error instanceof SessionGone)
}

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

/** `GET /auth/me`: the user of the access token. */
export const meRoute = defineRoute(
  {
    summary: 'The signed-in user',
    operationId: 'currentUser',
    auth: true,
    response: { 200: currentUser },
  },
  ({ user: { id, name, email, raw } }) => {
    // Every account has both, so a credential without them was not issued for an account.
    if (name === undefined || email === undefined) throw sessionOver()
    return { id, name, email, raw }
  },
)
