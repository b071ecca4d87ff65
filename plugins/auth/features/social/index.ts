/** Entry `@mortar/auth/social`: sign-in at Google, GitHub and other providers of OpenID Connect. */
import { checkOptions } from 'mortar/kit'
import type { AuthFeature } from '../feature.ts'
import { CODE } from '../../flows/parts.ts'
import { forgetting } from '../forget-rows.ts'
import { wrongOption } from '../../options/wrong-option.ts'
import { SESSION_METHODS } from '../session-methods/table.ts'
import { createSessionMethods } from '../session-methods/session-methods.ts'
import type { SocialProvider } from './providers.ts'
import { isPath, socialRoutes } from './routes.ts'
import { LinkedAccounts } from './accounts.ts'
import { SocialSignIn } from './sign-in.ts'
import { ACCOUNTS } from './table.ts'

export { github, google, oidc } from './providers.ts'
export type { ClientOptions, GithubOptions, OidcOptions, SocialProvider } from './providers.ts'
export type { LinkedAccount } from './linked-account.ts'

/** Options of `social`. */
export interface SocialOptions {
  readonly providers: readonly SocialProvider[]
  /** Path of the application that explains a failed sign-in: it receives the problem code as `error`. `/` by default. */
  readonly errorPath?: string
  /** False if an unknown identity gets no account. True by default. */
  readonly signUp?: boolean
  /**
   * True if an unknown identity is linked to the account that has its address, when both sides have proven it. False by
   * default: the user signs in and links.
   */
  readonly linkVerified?: boolean
}

/**
 * Sign-in at other providers, beside passwords. An identity is its issuer and subject, never an address. It needs
 * `recent()`, because linking needs a recent proof, and the package openid-client.
 * @throws StartupError `MORTAR_AUTH_OPTION` for a list that is empty or has a name twice, and for an `errorPath` that is not a path.
 */
export function social(options: SocialOptions): AuthFeature {
  checkOptions(options, {
    of: 'social()',
    brick: 'auth',
    keys: { providers: 'list', errorPath: 'string', signUp: 'boolean', linkVerified: 'boolean' },
  })
  const { providers, errorPath = '/', signUp = true, linkVerified = false } = options
  checkProviders(providers)
  if (!isPath(errorPath))
    throw wrongOption(`errorPath of social() is not a path: '${errorPath}'`, "Write '/sign-in'.")
  const rules = { providers, errorPath, signUp, linkVerified }
  return {
    name: 'social',
    requires: ['recent'],
    ...(signUp && { makesAccounts: true as const }),
    peers: { from: import.meta.url, packages: ['openid-client'] },
    tables: [ACCOUNTS, SESSION_METHODS],
    routes: [socialRoutes()],
    connect(kit) {
      const accounts = new LinkedAccounts(kit, rules)
      return {
        ...createSessionMethods(kit),
        api: new SocialSignIn(kit, accounts, rules),
        waysIn: (userId) => accounts.waysIn(userId),
        linked: {
          list: (userId) => accounts.list(userId),
          async remove(userId, id) {
            const user = await kit.users.findUserById(userId)
            if (user === null || !(await accounts.remove(userId, id))) return false
            kit.events.emit('auth.account.unlinked', { userId })
            await kit.factorChanged(user, 'account-unlinked', CODE)
            return true
          },
        },
        forget: forgetting(kit, ACCOUNTS, ['auth.account.unlinked', 'account-unlinked']),
      }
    },
  }
}

function checkProviders(providers: unknown): asserts providers is readonly SocialProvider[] {
  const names = Array.isArray(providers)
    ? providers.map((each) => (each as Partial<SocialProvider> | null)?.name)
    : []
  if (names.length === 0 || names.some((each) => typeof each !== 'string'))
    throw wrongOption(
      'providers of social() is not a list of providers',
      'Write [google({ … }), oidc({ … })].',
    )
  const twice = names.find((each, index) => names.indexOf(each) !== index)
  if (twice !== undefined)
    throw wrongOption(`providers of social() has '${twice}' twice`, 'Give each provider its own name.')
}
