/** Entry `@mortar/auth/email-verification`: addresses that their owners have proven. */
import { hasProvenEmail } from '../../accounts/proven-email.ts'
import { CHALLENGES } from '../challenges/table.ts'
import type { AuthFeature } from '../feature.ts'
import { createEmailVerification } from './create-verification.ts'
import { linkLifetime, type EmailVerificationOptions } from './options.ts'
import { PAGE_PATH } from './page.ts'
import { verificationRoutes } from './routes.ts'
import { uniformSignUpRoute } from './uniform-sign-up.ts'
import { refused } from '../../refusals.ts'

export type { EmailVerificationOptions } from './options.ts'

/**
 * Links that prove an address, the change of an address, and the policy `verified`. A link alone proves the mailbox and
 * not who has chosen the password, so its page also asks for the session or the password of the account. It needs
 * `recent()`, because a change of the address needs a recent proof.
 * @throws StartupError `MORTAR_AUTH_OPTION` for an invalid option.
 */
export function emailVerification(options: EmailVerificationOptions = {}): AuthFeature {
  const lifetime = linkLifetime(options)
  const { url, uniformSignup, verifiedOnly } = options
  return {
    name: 'emailVerification',
    requires: ['recent'],
    tables: [CHALLENGES],
    routes: verificationRoutes({ hasPage: url === undefined }),
    ...(verifiedOnly && { refusesUnverified: true }),
    ...(uniformSignup && { signUp: uniformSignUpRoute }),
    connect(kit) {
      const { api, sendTo } = createEmailVerification(kit, { lifetime, page: url ?? kit.linkTo(PAGE_PATH) })
      return {
        api,
        policies: {
          verified({ emailVerified }) {
            if (emailVerified !== true) throw refused('email_unverified')
            return true
          },
        },
        ...(verifiedOnly && {
          demand({ user }) {
            if (!hasProvenEmail(user)) throw refused('email_unverified')
          },
        }),
        async admitted(_grant, { user, way }, caller) {
          if (way === 'signup' && !hasProvenEmail(user)) await sendTo(user, caller)
        },
      }
    },
  }
}
