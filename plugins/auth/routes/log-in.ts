import * as yup from 'mortar/yup'
import { defineRoute, type DefinedRoute } from 'mortar'
import { authOf, canonical, deviceMark, presentedToken, signedInBody } from './auth-context.ts'
import { email, JSON_BODY, knownPassword, limited, signedIn } from './shapes.ts'

/** `POST /auth/login`: the same 401 for a wrong password and for an address without an account. */
export const logInRoute = defineRoute(
  {
    summary: 'Log in',
    description: 'Signs a user in: an access token in the body, a refresh token in a cookie.',
    operationId: 'logIn',
    ...JSON_BODY,
    body: yup.object({ email, password: knownPassword }).meta({ title: 'LogIn' }),
    response: {
      200: signedIn,
      401: { description: 'The address or the password is wrong.' },
      429: limited,
    },
  },
  async (ctx) => {
    const { email: address, password } = ctx.body
    const input = { email: canonical(address), password, device: deviceMark(ctx) }
    return signedInBody(ctx, await authOf(ctx).flows.logIn(input, ctx, presentedToken(ctx)))
  },
)

/** The same where accounts may have a second factor. */
export const steppedLogInRoute: DefinedRoute = {
  ...logInRoute,
  definition: {
    ...logInRoute.definition,
    response: {
      ...logInRoute.definition.response,
      401: {
        description:
          'The address or the password is wrong. Or the code is `second_factor_required`: then `challenge` is for ' +
          'POST /auth/login/factor, within `expiresIn` seconds. With `passkey` in `methods` it is POST /auth/login/passkey.',
      },
    },
  },
}

/** A login that also refuses an account whose address is not proven. */
export function verifiedLogInRoute(route: DefinedRoute): DefinedRoute {
  const unverified = { description: 'The address of the account is not proven: `email_unverified`.' }
  return {
    ...route,
    definition: { ...route.definition, response: { ...route.definition.response, 403: unverified } },
  }
}
