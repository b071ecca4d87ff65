import * as yup from 'mortar/yup'
import { defineRoute, type Context, type Router } from 'mortar'
import { authOf, canonical, featureOf, ownSession } from '../../routes/auth-context.ts'
import { authRouter } from '../../routes/auth-router.ts'
import { email, JSON_BODY, knownPassword, limited, linkToken, message, stale } from '../../routes/shapes.ts'
import { linkPageRouter } from '../link-page.ts'
import { PAGE } from './page.ts'
import type { EmailVerification } from './verification.ts'

const verification = (ctx: Context) => featureOf<EmailVerification>(ctx, 'emailVerification')

const verifyRoute = defineRoute(
  {
    summary: 'Redeem the link of an address',
    description:
      'Needs the token of the link, and the access token or the password of its account. A link to a new address ' +
      'replaces the address and ends every session.',
    operationId: 'verifyEmail',
    ...JSON_BODY,
    body: yup.object({ token: linkToken, password: knownPassword.optional() }).meta({ title: 'VerifyEmail' }),
    response: {
      200: message,
      401: { description: 'The link is not valid, or the owner of its account is needed.' },
      409: { description: 'Another account has the new address by now.' },
      429: limited,
    },
  },
  async (ctx) => {
    const claims = authOf(ctx).claimsOf(ctx.token)
    const own = claims && { userId: claims.sub, sessionId: claims.sid }
    const result = await verification(ctx).verify(ctx.body, own, ctx)
    return { message: RESULTS[result] }
  },
)

const RESULTS = {
  verified: 'Your address is confirmed.',
  changed: 'Your address is changed. Log in with it.',
} as const

const ON_ITS_WAY = { message: 'If this address can be confirmed, a mail with a link is on its way.' }

const resendRoute = defineRoute(
  {
    summary: 'Ask for the link of an address again',
    description:
      'Sends a link, if an account has not proven this address. The response is the same in any case.',
    operationId: 'resendVerification',
    ...JSON_BODY,
    body: yup.object({ email }).meta({ title: 'ResendVerification' }),
    response: { 202: message, 429: limited },
  },
  async (ctx) => {
    await verification(ctx).sendLink(canonical(ctx.body.email), ctx)
    ctx.status = 202
    return ON_ITS_WAY
  },
)

const changeRoute = defineRoute(
  {
    summary: 'Change the address',
    description:
      'Sends a link to the new address, and a notice to the old one. The new address counts when its link is redeemed. ' +
      'The response is the same for an address that has an account.',
    operationId: 'changeEmail',
    auth: 'fresh',
    ...JSON_BODY,
    body: yup.object({ email }).meta({ title: 'ChangeEmail' }),
    response: { 202: message, 403: stale, 429: limited },
  },
  async (ctx) => {
    await verification(ctx).requestChange(canonical(ctx.body.email), ownSession(ctx), ctx)
    ctx.status = 202
    return ON_ITS_WAY
  },
)

/** The routers of `emailVerification()`. */
export function verificationRoutes({ hasPage }: { readonly hasPage: boolean }): readonly Router[] {
  const router = authRouter()
  router.post('/verify-email', verifyRoute)
  router.post('/verify-email/resend', resendRoute)
  router.post('/change-email', changeRoute)
  return hasPage ? [router, linkPageRouter(PAGE)] : [router]
}
