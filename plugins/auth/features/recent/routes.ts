import * as yup from 'mortar/yup'
import { defineRoute, ValidationFailed, type Router } from 'mortar'
import { authOf, featureOf, ownRefreshToken, ownSession } from '../../routes/auth-context.ts'
import { authRouter } from '../../routes/auth-router.ts'
import {
  crossSite,
  type FactorFields,
  JSON_BODY,
  knownPassword,
  limited,
  refreshed,
} from '../../routes/shapes.ts'
import type { Confirm } from './confirm.ts'

const EITHER = 'Send a password or a passkey.'

const confirmRoute = (codes: FactorFields) =>
  defineRoute(
    {
      summary: 'Confirm the password',
      description:
        "Proves again who the user is, for routes with auth: 'fresh'. The session continues under a new id, with a new " +
        'access token in the body and a new refresh token in a cookie.',
      operationId: 'confirmPassword',
      auth: true,
      ...JSON_BODY,
      body: yup
        .object({ password: 'passkey' in codes ? knownPassword.optional() : knownPassword, ...codes })
        .meta({ title: 'ConfirmPassword' }),
      response: {
        200: refreshed,
        401: { description: 'Not signed in, or the password or the passkey is wrong.' },
        403: crossSite,
        429: limited,
      },
    },
    async (ctx) => {
      const { password, passkey } = ctx.body
      if (password === undefined && passkey === undefined)
        throw new ValidationFailed([
          { location: 'body', path: 'password', rule: 'required', message: EITHER },
        ])
      const own = ownSession(ctx)
      // Refuses a page of another origin that makes the browser send its cookies.
      ownRefreshToken(ctx)
      const grant = await featureOf<Confirm>(ctx, 'recent').confirm(ctx.body, own, ctx)
      authOf(ctx).cookie.set(ctx, grant)
      return { accessToken: grant.accessToken, expiresIn: grant.expiresIn }
    },
  )

/** The router of `recent()`. `codes` are the fields of a second factor, if accounts may have one. */
export function confirmRoutes(codes: FactorFields): Router {
  const router = authRouter()
  router.post('/confirm', confirmRoute(codes))
  return router
}
