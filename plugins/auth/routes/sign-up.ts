import { defineRoute } from 'mortar'
import { displayName } from '../accounts/display-name.ts'
import { authOf, canonical, presentedToken, signedInBody } from './auth-context.ts'
import { JSON_BODY, limited, signedIn, signUpBody } from './shapes.ts'

/** `POST /auth/signup`: creates an account and signs it in. Other keys of the body are ignored. */
export const signUpRoute = defineRoute(
  {
    summary: 'Sign up',
    description:
      'Creates an account and signs it in: an access token in the body, a refresh token in a cookie.',
    operationId: 'signUp',
    ...JSON_BODY,
    body: signUpBody,
    problems: [409, 429],
    response: {
      201: signedIn,
      409: { description: 'The address already has an account.' },
      429: limited,
    },
  },
  async (ctx) => {
    const { name, email: address, password } = ctx.body
    // Validation has checked both with the same functions.
    const input = { name: displayName(name)!, email: canonical(address), password }
    const grant = await authOf(ctx).flows.signUp(input, ctx, presentedToken(ctx))
    ctx.status = 201
    return signedInBody(ctx, grant)
  },
)
