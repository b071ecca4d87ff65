import { defineRoute, HttpError } from 'mortar'
import { SessionGone } from '../errors.ts'
import { authOf, ownRefreshToken } from './auth-context.ts'
import { crossSite, ignored, JSON_BODY, limited, refreshed } from './shapes.ts'

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
  return error instanceof HttpError && error.status === 401 && !(error instanceof SessionGone)
}
