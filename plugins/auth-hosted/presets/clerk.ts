import { checkPresetOptions, TEXT } from '../option-rules.ts'
import type { HostedPreset } from '../options.ts'

/** Address of a Clerk application and the origins of its pages. */
export interface ClerkOptions {
  /** The Frontend API URL of the instance: `https://clerk.example.com`, in development `https://….clerk.accounts.dev`. */
  readonly frontendApi: string
  /** Origins of the pages that sign in: `https://app.example.com`. Clerk writes them into `azp`. */
  readonly authorizedParties: readonly string[]
  /** Only for tokens of a JWT template that sets `aud`. */
  readonly audience?: string
}

/** Accepts session tokens of Clerk, from the header or from the cookie `__session` of the same site. */
export function clerk(options: ClerkOptions): HostedPreset {
  checkPresetOptions(options, 'clerk()', {
    frontendApi: TEXT,
    authorizedParties: { is: 'strings', required: true },
    audience: { is: 'string', guard: true },
  })
  const { frontendApi, authorizedParties, audience } = options
  const issuer = frontendApi.replace(/\/+$/, '')
  return {
    issuer,
    authorizedParties,
    ...(audience === undefined ? {} : { audience }),
    jwksUrl: `${issuer}/.well-known/jwks.json`,
    algorithms: ['RS256'],
    cookie: '__session',
    // A session with a pending task, such as choosing an organisation, is not signed in yet.
    claims: { sts: ['active', null] },
  }
}
