import type { Cradle } from 'mortar'
import { createBreachedPasswords, type BreachedPasswordsOptions } from './breached-passwords.ts'
import { isCommonPassword } from './common-passwords.ts'
import { foldPassword } from './fold-password.ts'
import { distinctWords, isMostlyWords, wordsOfHost, wordsOfUser, type PasswordUser } from './own-words.ts'
import { isPattern } from './password-pattern.ts'

/** A rule of the application. @returns undefined, or the reason for refusing the password. */
export type PasswordRule = (
  password: string,
  user: PasswordUser,
) => string | undefined | Promise<string | undefined>

/** The options about weak passwords. */
export interface WeakPasswordOptions {
  /**
   * Refuses common passwords, patterns and words of the user and the application; true by default. False
   * fails ASVS 6.2.4.
   */
  readonly refuseWeakPasswords?: boolean
  /** A rule of the application, called after the others. */
  readonly passwordRule?: PasswordRule
  /** Additional words that must not make up most of a password, such as the product's name. */
  readonly passwordWords?: readonly string[]
  /**
   * Refuses passwords of known data breaches, by asking Pwned Passwords; false by default, and under test without
   * `fetch`.
   */
  readonly breachedPasswords?: boolean | BreachedPasswordsOptions
  /** Public address; its host counts as a word of the application. */
  readonly appUrl?: string
}

/** Checks the strength of a well-formed new password. @returns undefined, or a reason for its owner. */
export type PasswordJudge = (password: string, user: PasswordUser) => Promise<string | undefined>

/** @throws StartupError `MORTAR_AUTH_OPTION` for invalid settings of `breachedPasswords`. */
export function createPasswordJudge(options: WeakPasswordOptions, services: Cradle): PasswordJudge {
  const { refuseWeakPasswords = true, passwordRule, passwordWords = [] } = options
  const appUrl = options.appUrl ?? services.appUrl
  const appWords = distinctWords([
    ...passwordWords,
    ...(appUrl === undefined ? [] : wordsOfHost(new URL(appUrl).hostname)),
  ])
  const isBreached = breachCheck(options, services)
  return async (password, user) => {
    const weakness = refuseWeakPasswords ? weaknessOf(password, user, appWords) : undefined
    if (weakness !== undefined) return weakness
    if (await isBreached?.(password)) return 'This password was part of a data breach. Choose another one.'
    return passwordRule && ownVerdict(await passwordRule(password, user))
  }
}

function weaknessOf(password: string, user: PasswordUser, appWords: readonly string[]): string | undefined {
  const folded = foldPassword(password)
  if (isCommonPassword(folded)) return 'This password is one of the most common ones. Choose another one.'
  if (isPattern(folded))
    return 'This password only repeats or continues a few characters. Choose another one.'
  if (isMostlyWords(folded, wordsOfUser(user)))
    return 'This password is mostly your name or your e-mail address. Choose another one.'
  if (isMostlyWords(folded, appWords))
    return 'This password is mostly the name of this service. Choose another one.'
  return undefined
}

function breachCheck({ breachedPasswords = false }: WeakPasswordOptions, services: Cradle) {
  if (breachedPasswords === false) return undefined
  const settings = breachedPasswords === true ? {} : breachedPasswords
  const check = createBreachedPasswords(settings, services.logger)
  return services.environment === 'test' && !settings.fetch ? undefined : check
}

/** A rule that returns another value is faulty and must not accept the password. */
function ownVerdict(verdict: unknown): string | undefined {
  if (verdict === undefined || (typeof verdict === 'string' && verdict !== '')) return verdict
  throw new TypeError(
    'passwordRule() must return undefined, or the reason for refusing the password as a string.',
  )
}
