import { defineRoute } from 'mortar'
import { displayName } from '../../accounts/display-name.ts'
import { canonical, featureOf } from '../../routes/auth-context.ts'
import { JSON_BODY, limited, message, signUpBody } from '../../routes/shapes.ts'
import type { EmailVerification } from './verification.ts'

/** `POST /auth/signup` of `emailVerification({ uniformSignup: true })`: the same response for every address. */
export const uniformSignUpRoute = defineRoute(
  {
    summary: 'Sign up',
    description:
      'Creates an account and sends a link to its address. The response is the same for an address that has an account, ' +
      'whose owner gets a mail about it. Nobody is signed in.',
    operationId: 'signUp',
    ...JSON_BODY,
    body: signUpBody,
    problems: [429],
    response: { 202: message, 429: limited },
  },
  async (ctx) => {
    const { name, email: address, password } = ctx.body
    // Validation has checked both with the same functions.
    const input = { name: displayName(name)!, email: canonical(address), password }
    await featureOf<EmailVerification>(ctx, 'emailVerification').signUp(input, ctx)
    ctx.status = 202
    return { message: 'Open the link in the mail that is on its way to your address.' }
  },
)
