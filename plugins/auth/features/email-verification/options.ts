import type { Duration } from 'mortar'
import { checkOptions } from 'mortar/kit'
import { lifetime } from '../../options/options.ts'
import { wrongOption } from '../../options/wrong-option.ts'

/** Options of `emailVerification`. */
export interface EmailVerificationOptions {
  /** Lifetime of a link. Seconds or a duration; 24 hours by default. */
  readonly lifetime?: Duration
  /** Address of a page of your own that reads `#token=…`; by default the feature has one at `/auth/verify-email`. */
  readonly url?: string
  /**
   * Gives signup the same 202 for every address, without signing in; a mail says more to the owner (ASVS 6.3.8). False
   * by default.
   */
  readonly uniformSignup?: boolean
  /** Refuses the login of an account whose address is not proven. Needs `uniformSignup`. False by default. */
  readonly verifiedOnly?: boolean
}

const WEEK = 7 * 86_400

/**
 * Returns the lifetime of a link in seconds.
 * @throws StartupError `MORTAR_AUTH_OPTION` for an invalid option.
 */
export function linkLifetime(options: EmailVerificationOptions): number {
  checkOptions(options, {
    of: 'emailVerification()',
    brick: 'auth',
    keys: {
      lifetime: ['number', 'string'],
      url: 'string',
      uniformSignup: 'boolean',
      verifiedOnly: 'boolean',
    },
  })
  const { url, uniformSignup = false, verifiedOnly = false } = options
  if (url !== undefined && !isPage(url))
    throw wrongOption(
      'url of emailVerification() is not the http or https address of a page, without #',
      "Write 'https://app.example.com/verify'.",
    )
  if (verifiedOnly && !uniformSignup)
    throw wrongOption(
      'verifiedOnly of emailVerification() needs uniformSignup, because signup would sign in',
      'Set uniformSignup: true.',
    )
  return lifetime('lifetime', options.lifetime ?? '24h', 60, WEEK)
}

function isPage(url: string): boolean {
  return URL.canParse(url) && /^https?:$/.test(new URL(url).protocol) && !url.includes('#')
}
