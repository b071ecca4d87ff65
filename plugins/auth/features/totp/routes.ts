import * as yup from 'mortar/yup'
import { defineRoute, ValidationFailed, type BaseContext, type Router } from 'mortar'
import type { FactorCodes } from '../../flows/proof.ts'
import {
  featureOf,
  ownRefreshToken,
  ownSession,
  presentedToken,
  setCookies,
  signedInBody,
} from '../../routes/auth-context.ts'
import { authRouter } from '../../routes/auth-router.ts'
import {
  crossSite,
  FACTOR_FIELDS,
  JSON_BODY,
  limited,
  refreshed,
  signedIn,
  stale,
} from '../../routes/shapes.ts'
import type { AuthFeature } from '../feature.ts'
import type { SecondFactor } from './second-factor.ts'

const factorOf = (ctx: BaseContext) => featureOf<SecondFactor>(ctx, 'totp')

const codesBody = yup.object(FACTOR_FIELDS)
const recoveryCodes = yup
  .array(yup.string().required())
  .required()
  .meta({ description: 'Ten codes that work once each. They are never shown again.' })

const wrongCode = { description: 'Not signed in, or the code is wrong or was used.' }
const missing = { description: 'There is no authenticator, or its set-up has expired.' }

/** @throws ValidationFailed without either code. */
function oneOf({ code, recoveryCode }: FactorCodes): FactorCodes {
  if (code !== undefined || recoveryCode !== undefined) return { code, recoveryCode }
  const message = 'Send a code or a recoveryCode.'
  throw new ValidationFailed([{ location: 'body', path: 'code', rule: 'required', message }])
}

/** With `emailVerification()` only the owner of a proven address sets one up: a factor would lock the true owner out. */
const setUpRoute = (auth: 'fresh' | readonly ['fresh', 'verified']) =>
  defineRoute(
    {
      summary: 'Set up an authenticator',
      description:
        'The secret counts once POST /auth/totp/confirm has received its code, within ten minutes.',
      operationId: 'setUpTotp',
      auth,
      response: {
        200: yup
          .object({
            secret: yup.string().required().meta({ description: 'Base32, to type into an authenticator.' }),
            uri: yup.string().required().meta({ description: 'otpauth address, for a QR code.' }),
          })
          .label('TotpSetUp'),
        403: stale,
        409: { description: 'An authenticator is active already.' },
        429: limited,
      },
    },
    (ctx) => factorOf(ctx).setUp(ownSession(ctx), ctx),
  )

const confirmRoute = defineRoute(
  {
    summary: 'Confirm an authenticator',
    description:
      'Makes the authenticator active. Every other session of the user ends. This one continues under a new id, with a ' +
      'new access token in the body and a new refresh token in a cookie.',
    operationId: 'confirmTotp',
    auth: 'fresh',
    ...JSON_BODY,
    body: yup.object({ code: FACTOR_FIELDS.code.required() }).meta({ title: 'ConfirmTotp' }),
    response: {
      200: refreshed.shape({ recoveryCodes }).label('TotpConfirmed'),
      401: wrongCode,
      403: { description: `${stale.description} Or: ${crossSite.description}` },
      409: missing,
      429: limited,
    },
  },
  async (ctx) => {
    const own = ownSession(ctx)
    // Refuses a page of another origin that makes the browser send its cookies.
    ownRefreshToken(ctx)
    const { grant, recoveryCodes: codes } = await factorOf(ctx).confirm(ctx.body.code, own, ctx)
    setCookies(ctx, grant)
    return { accessToken: grant.accessToken, expiresIn: grant.expiresIn, recoveryCodes: [...codes] }
  },
)

const removeRoute = defineRoute(
  {
    summary: 'Remove the authenticator',
    description: 'Logins ask for the password alone from now on, and the recovery codes are worthless.',
    operationId: 'removeTotp',
    auth: 'fresh',
    ...JSON_BODY,
    body: codesBody.meta({ title: 'RemoveTotp' }),
    response: {
      204: { description: 'The authenticator is removed.' },
      401: wrongCode,
      403: stale,
      409: missing,
      429: limited,
    },
  },
  async (ctx) => factorOf(ctx).remove(oneOf(ctx.body), ownSession(ctx), ctx),
)

const renewRoute = defineRoute(
  {
    summary: 'Renew the recovery codes',
    description: 'The old codes are worthless from now on.',
    operationId: 'renewRecoveryCodes',
    auth: 'fresh',
    ...JSON_BODY,
    body: codesBody.meta({ title: 'RenewRecoveryCodes' }),
    response: {
      200: yup.object({ recoveryCodes }).label('RecoveryCodes'),
      401: wrongCode,
      403: stale,
      409: missing,
      429: limited,
    },
  },
  async (ctx) => ({
    recoveryCodes: [...(await factorOf(ctx).renewRecovery(oneOf(ctx.body), ownSession(ctx), ctx))],
  }),
)

const logInRoute = defineRoute(
  {
    summary: 'Log in, second step',
    description:
      'Follows a login whose answer is 401 `second_factor_required`. Five tries within five minutes; then log in again.',
    operationId: 'logInWithFactor',
    ...JSON_BODY,
    body: yup
      .object({ challenge: yup.string().strict().required().max(256), ...FACTOR_FIELDS })
      .meta({ title: 'LogInWithFactor' }),
    response: {
      200: signedIn,
      401: { description: 'The code is wrong or was used, or the challenge is not valid any more.' },
      429: limited,
    },
  },
  async (ctx) => {
    const { challenge, ...codes } = ctx.body
    const step = { challenge, ...oneOf(codes) }
    return signedInBody(ctx, await factorOf(ctx).logIn(step, ctx, presentedToken(ctx)))
  },
)

/** The router of `totp()` beside other features. */
export function totpRoutes(features: readonly Pick<AuthFeature, 'name'>[]): Router {
  const isVerifying = features.some(({ name }) => name === 'emailVerification')
  const router = authRouter()
  router.post('/totp', setUpRoute(isVerifying ? ['fresh', 'verified'] : 'fresh'))
  router.post('/totp/confirm', confirmRoute)
  router.post('/totp/remove', removeRoute)
  router.post('/recovery-codes', renewRoute)
  router.post('/login/factor', logInRoute)
  return router
}
