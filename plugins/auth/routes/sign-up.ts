import { defineRoute, type DefinedRoute } from 'mortar'
import { authOf, presentedToken, signedInBody } from './auth-context.ts'
import { JSON_BODY, limited, signedIn } from './shapes.ts'
import type { SignUpShape } from './sign-up-shape.ts'

/** `POST /auth/signup`: creates an account and signs it in. Other keys of the body are ignored. */
export function signUpRoute({ body, accountOf }: SignUpShape): DefinedRoute {
  return defineRoute(
    {
      summary: 'Sign up',
      description:
        'Creates an account and signs it in: an access token in the body, a refresh token in a cookie.',
      operationId: 'signUp',
      ...JSON_BODY,
      body,
      response: {
        201: signedIn,
        409: { description: 'The address already has an account.' },
        429: limited,
      },
    },
    async (ctx) => {
      const grant = await authOf(ctx).flows.signUp(accountOf(ctx.body), ctx, presentedToken(ctx))
      ctx.status = 201
      return signedInBody(ctx, grant)
    },
  )
}
