import * as yup from 'mortar/yup'
import { defineRoute } from 'mortar'
import { authOf, ownRefreshToken, ownSession, setCookies } from './auth-context.ts'
import {
  changedPassword,
  crossSite,
  type FactorFields,
  JSON_BODY,
  knownPassword,
  limited,
  newPassword,
} from './shapes.ts'

/**
 * `POST /auth/change-password`: every session ends, and the caller continues under a new one. `codes` are the fields of a
 * second factor, if accounts may have one.
 */
export const changePasswordRoute = (codes: FactorFields) =>
  defineRoute(
    {
      summary: 'Change the password',
      description:
        'Needs the current password. Every other session of the user ends. This one continues under a new session id, with ' +
        'a new access token in the body and a new refresh token in a cookie.',
      operationId: 'changePassword',
      auth: true,
      ...JSON_BODY,
      body: yup
        .object({ current: knownPassword, next: newPassword, ...codes })
        .meta({ title: 'ChangePassword' }),
      response: {
        200: changedPassword,
        401: {
          description:
            'Not signed in, the current password is wrong, or the password was changed without a new session.',
        },
        403: crossSite,
        429: limited,
      },
    },
    async (ctx) => {
      const own = ownSession(ctx)
      // Refuses a page of another origin that makes the browser send its cookies.
      ownRefreshToken(ctx)
      const grant = await authOf(ctx).flows.changePassword(ctx.body, own, ctx)
      setCookies(ctx, grant)
      const { accessToken, expiresIn } = grant
      return { message: 'The password is changed. Every other session has ended.', accessToken, expiresIn }
    },
  )
