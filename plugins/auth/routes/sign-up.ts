import * as yup from 'yup'
import { defineRoute } from '../../../src/index.ts'
import { displayName } from '../accounts/display-name.ts'
import { authOf, canonical, presentedToken, signedInBody } from './auth-context.ts'
import { email, JSON_BODY, limited, newPassword, problem, shownName, signedIn } from './shapes.ts'

/** `POST /auth/signup`: makes an account and signs it in. Whatever else the body holds is ignored. */
export const signUpRoute = defineRoute(
  {
    summary: 'Sign up',
    description:
      'Makes an account and signs it in: an access token in the body, a refresh token in a cookie.',
    operationId: 'signUp',
    ...JSON_BODY,
    body: yup.object({ name: shownName, email, password: newPassword }),
    response: { 201: signedIn, 409: problem('The address has an account already.'), 429: limited },
  },
  async (ctx) => {
    const { name, email: address, password } = ctx.body
    // Both have passed validation, which is by the same functions.
    const input = { name: displayName(name)!, email: canonical(address), password }
    const grant = await authOf(ctx).flows.signUp(input, ctx, presentedToken(ctx))
    ctx.status = 201
    return signedInBody(ctx, grant)
  },
)
