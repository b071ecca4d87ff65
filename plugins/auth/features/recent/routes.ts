import * as yup from 'mortar/yup'
import { defineRoute, type Router } from 'mortar'
import { authOf, featureOf, ownRefreshToken, ownSession } from '../../routes/auth-context.ts'
import { authRouter } from '../../routes/auth-router.ts'
import {
  crossSite,
  type FACTOR_FIELDS,
  JSON_BODY,
  knownPassword,
  limited,
  refreshed,
} from '../../routes/shapes.ts'
import type { Confirm } from './confirm.ts'

const confirmRoute = (codes: typeof FACTOR_FIELDS) =>
  defineRoute(
    {
      summary: 'Confirm the password',
      description:
        "Proves again who the user is, for routes with auth: 'fresh'. The session continues under a new id, with a new " +
        'access token in the body and a new refresh token in a cookie.',
      operationId: 'confirmPassword',
      auth: true,
      ...JSON_BODY,
      body: yup.object({ password: knownPassword, ...codes }).meta({ title: 'ConfirmPassword' }),
      problems: [401, 403, 429],
      response: {
        200: refreshed,
        401: { description: 'Not signed in, or the password is wrong.' },
        403: crossSite,
        429: limited,
      },
    },
    async (ctx) => {
      const own = ownSession(ctx)
      // Refuses a page of another origin that makes the browser send its cookies.
      ownRefreshToken(ctx)
      const grant = await featureOf<Confirm>(ctx, 'recent').confirm(ctx.body, own, ctx)
      authOf(ctx).cookie.set(ctx, grant)
      return { accessToken: grant.accessToken, expiresIn: grant.expiresIn }
    },
  )

/** The router of `recent()`. `codes` are the fields of a second factor, if accounts may have one. */
export function confirmRoutes(codes: typeof FACTOR_FIELDS): Router {
  const router = authRouter()
  router.post('/confirm', confirmRoute(codes))
  return router
}
