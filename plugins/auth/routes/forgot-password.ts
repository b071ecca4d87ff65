import * as yup from 'mortar/yup'
import { defineRoute } from 'mortar'
import { authOf, canonical, deviceMark } from './auth-context.ts'
import { email, JSON_BODY, limited, message } from './shapes.ts'

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
