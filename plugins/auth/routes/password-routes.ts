import * as yup from 'mortar/yup'
import { defineRoute } from 'mortar'
import { authOf, canonical, deviceMark, ownRefreshToken, ownSession, setCookies } from './auth-context.ts'
import {
  changedPassword,
  crossSite,
  email,
  type FactorFields,
  JSON_BODY,
  knownPassword,
  limited,
  linkToken,
  message,
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

/** `POST /auth/forgot-password`: the same response for every address, before any mail is started. */
export const forgotPasswordRoute = defineRoute(
  {
    summary: 'Ask for a reset link',
    description:
      'Sends a link for a new password, if the address has an account. The response is the same in any case.',
    operationId: 'forgotPassword',
    ...JSON_BODY,
    body: yup.object({ email }).meta({ title: 'ForgotPassword' }),
    response: { 200: message, 429: limited },
  },
  async (ctx) => {
    const input = { email: canonical(ctx.body.email), device: deviceMark(ctx) }
    await authOf(ctx).flows.forgotPassword(input, ctx)
    return { message: 'If the address has an account, a mail with a link is on its way.' }
  },
)

/** `POST /auth/reset-password`: every session ends, and the user is not signed in. */
export const resetPasswordRoute = defineRoute(
  {
    summary: 'Set a new password with a reset token',
    description: 'The token works once. Every session of the user ends; log in with the new password.',
    operationId: 'resetPassword',
    ...JSON_BODY,
    body: yup.object({ token: linkToken, password: newPassword }).meta({ title: 'ResetPassword' }),
    response: {
      200: message,
      401: { description: 'The token is unknown, used or expired.' },
      429: limited,
    },
  },
  async (ctx) => {
    await authOf(ctx).flows.resetPassword(ctx.body, ctx)
    return { message: 'The new password is set. Log in with it.' }
  },
)
