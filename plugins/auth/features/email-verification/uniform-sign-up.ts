import { defineRoute, type DefinedRoute } from 'mortar'
import { featureOf } from '../../routes/auth-context.ts'
import { JSON_BODY, limited, message } from '../../routes/shapes.ts'
import type { EmailVerification } from './verification.ts'
import type { SignUpShape } from '../../routes/sign-up-shape.ts'

/** `POST /auth/signup` of `emailVerification({ uniformSignup: true })`: the same response for every address. */
export function uniformSignUpRoute({ body, accountOf }: SignUpShape): DefinedRoute {
  return defineRoute(
    {
      summary: 'Sign up',
      description:
        'Creates an account and sends a link to its address. The response is the same for an address that has an account, ' +
        'whose owner gets a mail about it. Nobody is signed in.',
      operationId: 'signUp',
      ...JSON_BODY,
      body,
      response: { 202: message, 429: limited },
    },
    async (ctx) => {
      await featureOf<EmailVerification>(ctx, 'emailVerification').signUp(accountOf(ctx.body), ctx)
      ctx.status = 202
      return { message: 'Open the link in the mail that is on its way to your address.' }
    },
  )
}
