import * as yup from 'mortar/yup'
import { defineRoute } from 'mortar'
import { authOf } from './auth-context.ts'
import { JSON_BODY, limited, message, newPassword, linkToken } from './shapes.ts'

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
